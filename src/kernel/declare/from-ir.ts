import { unreachable } from "../../base/unreachable.js";
import { KernelError } from "../../base/errors.js";
import { requireOwnNames } from "../../base/own.js";
import { isRank, MAX_RANK } from "../../base/rank.js";
import type { KernelIR, Location, Param } from "../../ir/types.js";
import type { Kernel } from "./kernel.js";
import type { Params, ParamToken, Rank } from "./params.js";

/**
 * A kernel that can be launched like any other, made of code instead of a function. It is optimised, checked and remembered at its first
 * use. `js-debug` runs it as emitted, checked JavaScript only, since there is no function to call.
 *
 * @param location the place that errors of launches name. Default: the code's own
 */
export function kernelFromIR(ir: KernelIR, location: Location = ir.location): Kernel {
  requireOwnNames(
    ir.params.map(({ name }) => name),
    ir.name,
    location,
  );
  const params: Params = Object.fromEntries(ir.params.filter(isGiven).map((param) => [param.name, tokenOf(param)]));
  const body = (): void => {
    throw new KernelError(ir.name, location, "it is made of code, and has no function to call");
  };
  return { name: ir.name, params, policy: ir.policy.kind, body, location, ir };
}

/** False of teams' scratch, which the launch allocates. */
const isGiven = (param: Param): boolean => param.kind !== "view" || param.teamLength === undefined;

function tokenOf(param: Param): ParamToken {
  switch (param.kind) {
    case "scalar":
      return { kind: "scalar", type: param.type };
    case "view":
      return {
        kind: "view",
        element: param.element,
        rank: rankOf(param.rank),
        disjoint: param.disjoint,
        ...(param.atomic && { atomic: true }),
      };
    case "scatter":
      return { kind: "scatter", element: param.element, rank: rankOf(param.rank), op: param.op };
    case "reduce":
      return { kind: "reduce", type: param.type, op: param.op, identity: param.identity };
    default:
      return unreachable(param);
  }
}

function rankOf(rank: number): Rank {
  if (!isRank(rank)) throw new Error(`a view of rank ${rank}; views have rank 1 to ${MAX_RANK}`);
  return rank as Rank;
}
