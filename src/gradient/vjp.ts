import { LaunchError } from "../base/errors.js";
import { derive } from "../cache/derive.js";
import { adjointOf } from "../ir/gradient/adjoint.js";
import type { Kernel } from "../kernel/declare/kernel.js";
import { codeOf, makeDerivative, requireDerivative, type Derivative, type DerivativeOptions } from "./derivative.js";
import { ParameterParts } from "./parts.js";
import { requireRuled, ruleOf, type KernelRule } from "./rule.js";

/** Options of `vjp`. */
export interface VjpOptions extends DerivativeOptions {
  /** Adjoints of arrays that the kernel stores into, and does not read, stay as they are. Default: false, they are cleared where the kernel stores. */
  readonly keepSeeds?: boolean;
}

/**
 * The adjoint of a kernel over a range (reverse mode), made once for each kernel and options. It takes the kernel's arguments as they were before its
 * launch, an array `y_bar` for each array `y` that the kernel stores into, and for each that gradients are wanted of, and a number `s_bar` for each sum or extreme. It
 * reads the `y_bar` of what is stored and clears it, adds to the `x_bar` of what is read, and gives the sum `a_bar` for each scalar.
 *
 * @throws GradientError where the gradient is not known or would be wrong, with the place and the remedy
 */
export function vjp(kernel: Kernel, options: VjpOptions): Derivative {
  requireDerivative("vjp", kernel, options, ["keepSeeds"]);
  const own = ruleOf(kernel);
  if (typeof own === "object") return byRule(kernel, own, options);
  return derive(kernel, adjoint, { wrt: [...options.wrt], keepSeeds: options.keepSeeds ?? false, fixed: options.fixed ?? {} });
}

/** The adjoint that its author has given. */
function byRule(kernel: Kernel, { wrt, needs, vjp: given }: KernelRule, options: VjpOptions): Derivative {
  requireRuled("vjp", kernel, wrt, options.wrt);
  if (options.keepSeeds)
    throw new LaunchError(`vjp of "${kernel.name}", whose adjoint is given by rule(...), cannot keep seeds; leave keepSeeds out`);
  return makeDerivative(kernel, { kernels: [given], needs, remarks: ["its adjoint is given by rule(...)"] }, "bar");
}

function adjoint(kernel: Kernel, { wrt, keepSeeds, fixed }: Required<VjpOptions>): Derivative {
  if (ruleOf(kernel) === "none")
    return makeDerivative(kernel, adjointOf(codeOf(kernel, fixed), { wrt: [], keepSeeds, isConstant: true }), "bar", fixed);
  const code = adjointOf(codeOf(kernel, fixed), { wrt: new ParameterParts(kernel, "bar").names(wrt), keepSeeds });
  return makeDerivative(kernel, code, "bar", fixed);
}
