import { assign, f64, sum } from "isoform";
import type { Container } from "isoform/grid";
import type { Scalar } from "isoform/set";
import type { Along } from "../equations/metrics.js";
import type { Model } from "../equations/model.js";
import { STATE } from "../equations/pointwise.js";
import { temperature } from "./temperature.js";

/*
 * Forcing that keeps a channel's bulk flow: after each stage, uniform changes of density and momentum that undo what the bulk has lost, and where
 * asked for, one of the temperature that gives the bulk a target.
 */

/** Means over the volume, weighted by the widths of cells along y. */
export interface Bulk {
  /** Sums of a stage's changes: density and momentum along x. */
  readonly mass: Scalar<"f64">;
  readonly push: Scalar<"f64">;
  /** Means of the stage's input: density, momentum along x, and momentum times temperature. */
  readonly density: Scalar<"f64">;
  readonly momentum: Scalar<"f64">;
  readonly heat: Scalar<"f64">;
  /** Momentum times the temperature before the last correction. */
  readonly carried: Scalar<"f64">;
  /** Sum of `push` over the stages of a step. */
  readonly pressure: Scalar<"f64">;
}

export interface Forcing {
  readonly bulk: Bulk;
  /** Steps between a stage and the swap of its fields. */
  readonly stage: (n: number) => readonly ReturnType<typeof stepsOf>[number][];
}

/** @param faces along y, one more than cells */
export function forcingOf(model: Model, faces: ArrayLike<number>, target: number | undefined): Forcing {
  const { grid, real } = model;
  const [nx, ny, nz] = grid.extents;
  const volume = (faces[ny] - faces[0]) * nx * nz;
  const weight = grid.axis("y", real, (j) => (faces[j + 1] - faces[j]) / volume) as Along;
  const names = ["mass", "push", "density", "momentum", "heat", "carried", "pressure"] as const;
  const bulk = Object.fromEntries(names.map((name) => [name, grid.scalar(name, f64)])) as unknown as Bulk;
  const steps = stepsOf(model, weight, bulk, target);
  return { bulk, stage: (n) => [...steps, pressureStep(model, bulk, n)] };
}

function stepsOf(model: Model, weight: Along, bulk: Bulk, target: number | undefined): Container[] {
  const { grid, Real, toReal, cell, fields, gas } = model;
  const { w, T, next } = fields;
  const { stateOf } = cell;
  const { mass, push, density, momentum, heat } = bulk;
  const sums = grid.container(
    "bulk",
    { w, T, next, weight, mass: sum(mass), push: sum(push), density: sum(density), momentum: sum(momentum), heat: sum(heat) },
    ({ w, T, next, weight, mass, push, density, momentum, heat }, c) => {
      const s = new Real(STATE);
      stateOf(w, T, c, 0, 0, 0, s);
      mass.add((next[c][0] - w[c][0]) * weight[c]);
      push.add((next[c][1] - w[c][1]) * weight[c]);
      density.add(w[c][0] * weight[c]);
      momentum.add(w[c][1] * weight[c]);
      heat.add(w[c][1] * s[5] * weight[c]);
    },
    () => [Real, STATE, stateOf],
  );
  const force = grid.container(
    "force",
    { w, next, mass, push },
    ({ w, next, mass, push }, c) => {
      next[c][0] -= toReal(mass);
      next[c][1] -= toReal(push);
      next[c][4] -= (toReal(push) * w[c][1]) / w[c][0];
    },
    () => [toReal],
  );
  const warm = gas.heat ? [temperature(model)] : [];
  return [sums, force, ...warm, ...(target === undefined ? [] : reheat(model, weight, bulk, target))];
}

/** Moves all temperatures by what the bulk temperature is off its target. */
function reheat({ grid, Real, toReal, cell, fields, gas }: Model, weight: Along, bulk: Bulk, target: number): Container[] {
  const { nextT, next } = fields;
  const { stateOf, energyOf } = cell;
  const { carried, momentum } = bulk;
  const carry = grid.container(
    "carried heat",
    { next, nextT, weight, carried: sum(carried) },
    ({ next, nextT, weight, carried }, c) => {
      const s = new Real(STATE);
      stateOf(next, nextT, c, 0, 0, 0, s);
      carried.add(next[c][1] * s[5] * weight[c]);
    },
    () => [Real, STATE, stateOf],
  );
  const isThermal = gas.heat !== undefined;
  const move = grid.container(
    "reheat",
    { next, nextT, carried, momentum, target },
    ({ next, nextT, carried, momentum, target }, c) => {
      const s = new Real(STATE);
      stateOf(next, nextT, c, 0, 0, 0, s);
      const moved = s[5] + toReal(target - carried / momentum);
      next[c][4] = s[0] * (energyOf(moved) + 0.5 * (s[1] * s[1] + s[2] * s[2] + s[3] * s[3]));
      if (isThermal) nextT[c] = moved;
    },
    () => [Real, STATE, isThermal, toReal, stateOf, energyOf],
  );
  return [carry, move];
}

function pressureStep({ grid }: Model, { push, pressure }: Bulk, stage: number): ReturnType<Model["grid"]["scalarStep"]> {
  const isFirst = stage === 0;
  return grid.scalarStep(
    `pressure ${stage + 1}`,
    { pressure: assign(pressure), push },
    ({ pressure, push }) => {
      pressure.set(isFirst ? push : pressure.get() + push);
    },
    () => [isFirst],
  );
}
