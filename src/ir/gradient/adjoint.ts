import { unreachable } from "../../base/unreachable.js";
import { isFloat } from "../scalars.js";
import type { KernelIR, Param, ScatterParam, ViewParam } from "../types.js";
import { changedIn, walkExprs } from "../walk.js";
import type { ActiveNames } from "./activity.js";
import { endsOf } from "./activity.js";
import type { Form } from "./back.js";
import { AdjointLoops } from "./back-loops.js";
import { Places } from "./in-place.js";
import { barOf, oneNumber, scalarParam, scatterLike, sumParam, tiesName, extremeName, viewLike } from "./names.js";
import { needed } from "./need.js";
import { GradientSubject, typeOfParam, type DerivativeCode } from "./subject.js";

interface AdjointOptions {
  /** Views, scatter targets and scalars of floats. */
  readonly wrt: readonly string[];
  /** Adjoints of views that the kernel stores into, and does not read, stay as they are. Default: they are cleared, as the kernel overwrites what was there. */
  readonly keepSeeds?: boolean;
  /** Gradients end at all that the kernel stores: its adjoint only clears. */
  readonly isConstant?: boolean;
  /** Views that elements read at other places than their own: their adjoints are added into by scatter, though no two elements may meet. */
  readonly scattered?: ReadonlySet<string>;
}

/**
 * The adjoint of a kernel over a range: kernels that run over the same range after it, with its arguments from before it. `x_bar` of a view that it stores into is read, and cleared where it
 * stores; what reaches a view is added to its `x_bar`, and what reaches a scalar is the sum `a_bar`. Seeds of reductions are scalars `s_bar`.
 *
 * Throws GradientError where the gradient is not known.
 */
export function adjointOf(
  kernel: KernelIR,
  { wrt, keepSeeds = false, isConstant = false, scattered = new Set() }: AdjointOptions,
): DerivativeCode {
  const subject = new GradientSubject(kernel, wrt, isConstant);
  const active = subject.activity(true);
  subject.requireFreeNames(active, barOf, "adjoint");
  const forms = formsOf(subject, active, scattered);
  const source = subject.source(active, true);
  const unrepeated = new Map<string, string>();
  const kept = keepSeeds ? keptSeeds(subject, active) : new Set<string>();
  const emission = new AdjointLoops({ ...source, forms, kept, refusals: subject.refusals, unrepeated });
  const body = needed(emission.write(subject.body(true)), source.repeated);
  walkExprs(body, (node) => {
    const target = node.op === "local" ? unrepeated.get(node.name) : undefined;
    if (target !== undefined) subject.refusals.atomic(target);
  });
  const own = kernel.params.filter(({ kind }) => kind !== "reduce");
  const params = [...own, ...kernel.params.flatMap((param) => barParams(param, active, forms))];
  const extremes = subject.extremes(active);
  const kernels = [...extremes, subject.finished({ ...kernel, name: `${kernel.name}_vjp`, params, body })];
  const added = [...forms].filter(([, form]) => form === "scatter").map(([name]) => `${barOf(name)} is added into by scatter`);
  const strict = extremes.length > 0 ? ["runs in strict mode, as it compares values with the least or greatest one"] : [];
  const ends = endsOf(subject.ir, active, (name) => name);
  return { kernels, needs: subject.needs(kernels), remarks: [...ends, ...added, ...strict] };
}

function barParams(param: Param, active: ActiveNames, forms: ReadonlyMap<string, Form>): Param[] {
  const { name } = param;
  switch (param.kind) {
    case "scalar":
      return active.scalars.has(name) ? [sumParam(barOf(name), param.type as "f64")] : [];
    case "view":
      if (!active.views.has(name)) return [];
      return [forms.get(name) === "scatter" ? scatterLike(barOf(name), param) : viewLike(barOf(name), param, param.disjoint)];
    case "scatter":
      return isFloat(param.element) ? [viewLike(barOf(name), param, false)] : [];
    case "reduce": {
      if (!isFloat(param.type)) return [];
      const { type } = param;
      return [scalarParam(barOf(name), type), oneNumber(extremeName(name), type), oneNumber(tiesName(name), type)];
    }
    default:
      return unreachable(param);
  }
}

/** How contributions reach the adjoint of each active view. */
function formsOf(subject: GradientSubject, active: ActiveNames, scattered: ReadonlySet<string>): Map<string, Form> {
  const written = changedIn(subject.ir.body, "view");
  const accesses = subject.accesses();
  const forms = new Map<string, Form>();
  for (const name of active.views) {
    const param = subject.params.get(name)!;
    if (param.kind !== "view" || !isFloat(typeOfParam(param))) continue;
    const own = !scattered.has(name) && subject.areOwn(accesses.get(name) ?? []);
    if (written.has(name) && !own && param.disjoint) requireOwnLoads(subject, param);
    forms.set(name, written.has(name) || own ? "own" : "scatter");
  }
  return forms;
}

/** Two elements may read one place of a disjoint view, unless each reads only where it stores. */
function requireOwnLoads(subject: GradientSubject, { name }: ViewParam | ScatterParam): void {
  const places = new Places(subject.ir.body);
  const writes = places.writes.get(name) ?? [];
  for (const read of places.reads.get(name) ?? [])
    if (!writes.some((write) => places.isAlwaysWith(write, read))) subject.refusals.shared(name, "it is disjoint only where it is stored");
}

/** Views whose adjoints need not be cleared: they are stored into at most once at a place, and not read. */
function keptSeeds(subject: GradientSubject, active: ActiveNames): Set<string> {
  const places = new Places(subject.ir.body);
  const kept = new Set<string>();
  for (const [name, writes] of places.writes) {
    if (!active.views.has(name) || places.reads.has(name)) continue;
    for (const write of writes) if (!places.isSingle(write)) subject.refusals.storedTwice(name, write.stmt.location);
    kept.add(name);
  }
  return kept;
}

export { differentiable, type DerivativeCode } from "./subject.js";
