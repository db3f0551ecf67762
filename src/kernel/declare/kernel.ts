import { originalPosition } from "#source-map";
import type { KernelIR, Location } from "../../ir/types.js";
import type { Captures } from "./captures.js";
import type { Params } from "./params.js";
import type { BodyParams, Team } from "./body.js";
import { describe } from "../../base/describe.js";
import { KernelError } from "../../base/errors.js";
import { callSite } from "./location.js";
import { PLAIN_FUNCTION, whyNotPlain } from "../read/plain-function.js";

/** A kernel as written: the function, what it declares, and where. Compiled on first use by each device. */
export interface Kernel<P extends Params = Params, K extends PolicyKind = PolicyKind> {
  readonly name: string;
  readonly params: P;
  readonly policy: K;
  /** `kernel` and `teamKernel` check its parameters; left open here so that every `Kernel<P>` is a `Kernel`. */
  readonly body: (...args: never[]) => void;
  /** Lists what the body takes from around it. */
  readonly captures?: Captures;
  /** Place of the call of `kernel(...)`; the body's lines are counted from there when its text cannot be found in the file. */
  readonly location: Location;
  /** Ready code in place of the function's: see `kernelFromIR`. */
  readonly ir?: KernelIR;
  /** The kernel as its author wrote it, where this one has its parameters part by part: see `flatKernel`. */
  readonly written?: Kernel;
}
/** Index set of a kernel: a range, or a league of teams. */
export type PolicyKind = "range" | "team";

/**
 * Declares a kernel over a range: the body runs once for each index (or index pair, triple, quadruple), in any order and in parallel.
 * It may use only its parameters, and what is listed; see docs/language.md for what it may say. Nothing is compiled yet. Throws KernelError if
 * a part is missing, and where the body has no source text (a bound function, say), is async or a generator.
 *
 * @param captures lists what the body takes from around it, `() => [wave, C]`: constants, tables, functions, types of arrays
 */
export function kernel<const P extends Params>(
  name: string,
  params: P,
  body: (params: BodyParams<P>, i: number, j: number, k: number, l: number) => void,
  captures?: Captures,
): Kernel<P, "range"> {
  return declareKernel("range", name, params, body, captures, callSite(kernel));
}

/** Declares a team kernel: the body runs once for each team of a league; `team.range` and its kin share work among the members. Throws KernelError as `kernel` does. */
export function teamKernel<const P extends Params>(
  name: string,
  params: P,
  body: (params: BodyParams<P>, team: Team) => void,
  captures?: Captures,
): Kernel<P, "team"> {
  return declareKernel("team", name, params, body, captures, callSite(teamKernel));
}

/** Throws KernelError where a part of a declaration is missing or is not what it should be. */
export function declareKernel<P extends Params, K extends PolicyKind>(
  policy: K,
  name: string,
  params: P,
  body: Kernel["body"],
  captures: Captures | undefined,
  location: Location,
): Kernel<P, K> {
  const refuse = (given: string, part: string): never => {
    const example =
      policy === "range"
        ? 'kernel("name", { x: view(f64) }, ({ x }, i) => ..., () => [helper, CONSTANT])'
        : 'teamKernel("name", { x: view(f64) }, ({ x }, team) => ..., () => [helper, CONSTANT])';
    throw new KernelError(
      typeof name === "string" ? name : "",
      originalPosition(location),
      `it is given ${given} for ${part}`,
      `write ${example}`,
    );
  };
  if (typeof name !== "string" || name === "") refuse(name === "" ? "an empty string" : describe(name), "its name");
  if (typeof params !== "object" || params === null || Array.isArray(params)) refuse(describe(params), "its parameters");
  if (typeof body !== "function") refuse(describe(body), "its function");
  const problem = whyNotPlain(body);
  if (problem) throw new KernelError(name, originalPosition(location), problem, PLAIN_FUNCTION);
  if (captures !== undefined && typeof captures !== "function") refuse(describe(captures), "the list of its captures");
  return { name, params, policy, body, captures, location };
}
