import { contributionsOf } from "../../ir/analysis/contributions.js";
import { orderMatters } from "../../ir/identity.js";
import type { ScatterParam } from "../../ir/types.js";
import { defaultAssumptions } from "../../schedule/lower.js";
import type { GpuAssumptions, GpuLanguage, GpuProgram, ScatterCode } from "../../schedule/program.js";
import { emitGpu } from "../c/gpu/emit.js";
import type { GpuDialect } from "../c/gpu/dialect.js";
import type { EmitRequest } from "./request.js";

/** Limits of what is written for a language. */
interface HostAbilities {
  /** False where contributions cannot be sorted: one thread makes them in order. */
  readonly sorts?: false;
  /** Lanes of a team's member at most. */
  readonly lanes?: number;
}

/** The program of a kernel for launches of any size. */
export function gpuProgram(
  { ir, access, precision, unitStrides, axes, comments }: EmitRequest,
  dialect: GpuDialect,
  how: HostAbilities = {},
): GpuProgram {
  const strict = precision === "strict";
  const scatters = ir.params.filter((p) => p.kind === "scatter");
  const inOrder = strict ? scatters.filter(orderMatters) : [];
  // One scatter that only one thread can order takes all others with it.
  const serial = inOrder.some(({ name }) => how.sorts === false || contributionsOf(ir, name) === undefined);
  const codeOf = (param: ScatterParam): ScatterCode => (serial ? "serial" : inOrder.includes(param) ? "sorted" : "atomic");
  const assumptions: GpuAssumptions = {
    ...defaultAssumptions(ir, strict),
    wide: true,
    ...(how.lanes ? { lanes: how.lanes } : {}),
    outputs: false,
    unitStrides,
    ...(axes && { axes }),
    scatter: Object.fromEntries(scatters.map((param) => [param.name, codeOf(param)])),
  };
  return emitGpu(ir, access, assumptions, { ...dialect, lastBlock: undefined, peerAccess: undefined }, comments);
}

/** The source of a program for the device, with the sort of its contributions. */
export function deviceSource({ stem }: EmitRequest, program: GpuProgram, { sort }: GpuLanguage): string {
  return program.sorted.length > 0
    ? `${program.source}\n${sort.replaceAll(/\bsort_(?=count\b|scan\b|move\b)/g, `${stem}_sort_`)}`
    : program.source;
}
