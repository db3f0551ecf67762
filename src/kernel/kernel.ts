import type { Location } from "../ir/types.js";
import type { BodyParams, Params, Team } from "./params.js";
import { callSite } from "./location.js";

/** A kernel as written: the function, what it declares, and where. Compiled on first use by each device. */
export interface Kernel<P extends Params = Params> {
  readonly name: string;
  readonly params: P;
  readonly policy: "range" | "team";
  /** `kernel` and `teamKernel` check its parameters; left open here so that every `Kernel<P>` is a `Kernel`. */
  readonly body: (...args: never[]) => void;
  /** Where `kernel(...)` was called; the body's lines are counted from there when its text cannot be found in the file. */
  readonly location: Location;
}

/**
 * Declares a kernel over a range: the body runs once for each index (or index pair, triple, quadruple), in any order and in parallel.
 * It may use only its parameters; see docs/language.md for what it may say. Nothing is compiled yet.
 */
export function kernel<const P extends Params>(
  name: string,
  params: P,
  body: (params: BodyParams<P>, i: number, j: number, k: number, l: number) => void,
): Kernel<P> {
  return { name, params, policy: "range", body, location: callSite(kernel) };
}

/** Declares a team kernel: the body runs once for each team of a league; `team.range` and its kin share work among the members. */
export function teamKernel<const P extends Params>(name: string, params: P, body: (params: BodyParams<P>, team: Team) => void): Kernel<P> {
  return { name, params, policy: "team", body, location: callSite(teamKernel) };
}
