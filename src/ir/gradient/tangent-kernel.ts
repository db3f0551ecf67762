import { unreachable } from "../../base/unreachable.js";
import { isFloat } from "../scalars.js";
import type { KernelIR, Param } from "../types.js";
import { endsOf, type ActiveNames } from "./activity.js";
import { dotName, oneNumber, scalarParam, sumParam, tiesName, extremeName, viewLike } from "./names.js";
import { needed } from "./need.js";
import { GradientSubject, type DerivativeCode } from "./subject.js";
import { Tangent } from "./tangent.js";

interface TangentOptions {
  /** Views, scatter targets and scalars of floats. */
  readonly wrt: readonly string[];
  /** Gradients end at all that the kernel stores. */
  readonly isConstant?: boolean;
}

/**
 * The tangent of a kernel over a range, which computes what the kernel computes and how fast it changes: from `x_dot` of the views and `a_dot` of the scalars it
 * stores `y_dot`, adds to `h_dot` and gives `s_dot`. It runs in place of the kernel.
 *
 * Throws GradientError where the tangent is not known.
 */
export function tangentOf(kernel: KernelIR, { wrt, isConstant = false }: TangentOptions): DerivativeCode {
  const subject = new GradientSubject(kernel, wrt, isConstant);
  const active = subject.activity(false);
  subject.requireFreeNames(active, dotName, "tangent");
  const emission = new Tangent({ ...subject.source(active, false), refusals: subject.refusals });
  const body = needed(emission.write(subject.body(false)));
  // Parts of a joint reduction are neighbours.
  const params = [...kernel.params, ...kernel.params.flatMap((param) => dotParams(param, active))];
  const kernels = [...subject.extremes(active), subject.finished({ ...kernel, name: `${kernel.name}_jvp`, params, body })];
  return { kernels, needs: subject.needs(kernels), remarks: endsOf(subject.ir, active, (name) => name) };
}

function dotParams(param: Param, active: ActiveNames): Param[] {
  const { name } = param;
  switch (param.kind) {
    case "scalar":
      return active.scalars.has(name) ? [scalarParam(dotName(name), param.type)] : [];
    case "view":
      return active.views.has(name) ? [viewLike(dotName(name), param, param.disjoint)] : [];
    case "scatter":
      return isFloat(param.element) ? [{ ...param, name: dotName(name) }] : [];
    case "reduce": {
      if (!isFloat(param.type)) return [];
      const { type } = param;
      return [sumParam(dotName(name), type), oneNumber(extremeName(name), type), oneNumber(tiesName(name), type)];
    }
    default:
      return unreachable(param);
  }
}
