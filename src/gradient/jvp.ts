import { GradientError } from "../base/errors.js";
import { derive } from "../cache/derive.js";
import { tangentOf } from "../ir/gradient/tangent-kernel.js";
import type { Kernel } from "../kernel/declare/kernel.js";
import { codeOf, makeDerivative, requireDerivative, type Derivative, type DerivativeOptions } from "./derivative.js";
import { ParameterParts } from "./parts.js";
import { requireRuled, ruleOf, type KernelRule } from "./rule.js";

/**
 * The tangent of a kernel over a range (forward mode), made once for each kernel and options. It runs in place of the kernel, and computes beside each value how
 * fast it changes: it takes an array `x_dot` for each array and a number `a_dot` for each scalar that gradients are wanted of, stores into
 * `y_dot` where the kernel stores into `y`, and gives `s_dot` beside each reduction `s`.
 *
 * @throws GradientError where the tangent is not known, with the place and the remedy
 */
export function jvp(kernel: Kernel, options: DerivativeOptions): Derivative {
  requireDerivative("jvp", kernel, options, []);
  const own = ruleOf(kernel);
  if (typeof own === "object") return byRule(kernel, own, options);
  return derive(kernel, tangent, { wrt: [...options.wrt], fixed: options.fixed ?? {} });
}

/** The tangent that its author has given. */
function byRule(kernel: Kernel, { wrt, jvp: given }: KernelRule, options: DerivativeOptions): Derivative {
  requireRuled("jvp", kernel, wrt, options.wrt);
  if (!given)
    throw new GradientError(
      kernel.name,
      kernel.location,
      "its adjoint is given by rule(...), and no tangent",
      "give rule(...) a jvp as well",
    );
  return makeDerivative(kernel, { kernels: [given], needs: [], remarks: ["its tangent is given by rule(...)"] }, "dot");
}

function tangent(kernel: Kernel, { wrt, fixed }: Required<DerivativeOptions>): Derivative {
  if (ruleOf(kernel) === "none")
    return makeDerivative(kernel, tangentOf(codeOf(kernel, fixed), { wrt: [], isConstant: true }), "dot", fixed);
  const code = tangentOf(codeOf(kernel, fixed), { wrt: new ParameterParts(kernel, "dot").names(wrt) });
  return makeDerivative(kernel, code, "dot", fixed);
}
