import { assign } from "isoform";
import type { Container, Side } from "isoform/grid";
import type { Scalar } from "isoform/set";
import { every, swap, type Step } from "isoform/skeleton";
import { characteristicEdge, type OpenEdge } from "../boundaries/characteristic-edge.js";
import { repeatEdge } from "../boundaries/extrapolation.js";
import { divergence } from "./divergence.js";
import { fluxes } from "./fluxes.js";
import type { Forcing } from "./forcing.js";
import type { Model } from "../equations/model.js";
import { stage, STAGES } from "../equations/stage.js";
import { temperature } from "./temperature.js";
import { chooseStep } from "./time-step.js";

/** A fixed time step, or the Courant number from which it is found every `every` steps. */
export type TimeStep = { readonly dt: number } | { readonly courant: number; readonly every?: number };

interface StepOptions {
  readonly dt: Scalar;
  /** The time, which a step moves on. */
  readonly time: Scalar<"f64">;
  readonly step: TimeStep;
  /** Sides that are not periodic. */
  readonly sides: readonly Side[];
  /** Containers that give ghosts their conserved values, in order. */
  readonly boundaries: readonly Container[];
  /** Sides through which waves leave by their characteristics. */
  readonly edges?: readonly OpenEdge[];
  /** Container that sums up the last stage's changes, where boundaries write cells. */
  readonly residual?: Container;
  readonly forcing?: Forcing;
  /** Steps that sample the flow at the end of each step whose number, counted from 1, is a multiple of `every`. */
  readonly sampled?: readonly { readonly every: number; readonly steps: readonly Step[] }[];
}

/** The time step is chosen for the first step, and then for those whose number, counted from 1, is a multiple. */
function choice(model: Model, dt: Scalar, step: TimeStep): Step[] {
  if ("dt" in step) return [];
  const { courant, every: n = 1 } = step;
  return [every(n, chooseStep(model, dt, courant), { phase: n - 1 })];
}

/** Steps of the Runge-Kutta scheme, in order. */
export function sequenceOf(model: Model, options: StepOptions): Step[] {
  const { dt, time, step, sides, boundaries, edges: open = [], residual, forcing, sampled = [] } = options;
  const { grid, gas, scheme, isCentral, isHybrid } = model;
  const { w, next, T, nextT, third } = model.fields;
  const isViscous = scheme.viscous !== "none";
  const convection = isCentral ? [] : [0, 1, 2].slice(0, model.axes).flatMap((axis) => fluxes(model, axis));
  const edges = isViscous ? sides.map((side) => repeatEdge(model, third, side)) : [];
  const plain = isViscous ? [divergence(model, false)] : [];
  const sensing = isHybrid ? [divergence(model, true)] : plain;
  const warm = gas.heat && !forcing ? [temperature(model)] : [];
  const stages = Array.from({ length: STAGES }, (_, n) => [
    ...convection,
    // The sensor of a step was found in the last stage before.
    ...(n === STAGES - 1 ? sensing : plain),
    ...edges,
    stage(model, dt, n),
    ...open.map((side) => characteristicEdge(model, side, dt, n)),
    ...(forcing ? forcing.stage(n) : warm),
    ...(residual && n === STAGES - 1 ? [residual] : []),
    swap(w, next),
    ...(gas.heat ? [swap(T, nextT)] : []),
    ...boundaries,
  ]);
  const advance = grid.scalarStep("time", { time: assign(time), dt }, ({ time, dt }) => {
    time.set(time.get() + dt);
  });
  const samples = sampled.map(({ every: n, steps }) => every(n, steps, { phase: n - 1 }));
  return [...choice(model, dt, step), ...stages.flat(), advance, ...samples];
}
