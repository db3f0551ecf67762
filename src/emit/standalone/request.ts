import type { AccessAnalysis } from "../../ir/analysis/access.js";
import type { Policy, Precision } from "../../ir/launch.js";
import type { KernelIR } from "../../ir/types.js";
import { wordOf } from "../../base/names.js";

/** A kernel that is to be written as source files of their own. */
export interface EmitRequest {
  readonly ir: KernelIR;
  readonly access: AccessAnalysis;
  readonly precision: Precision;
  /** Name of the files, without a suffix; an identifier in every language. */
  readonly stem: string;
  /** By view and axis: the stride is 1 and compiled in; all others are arguments of the launch function. */
  readonly unitStrides: Readonly<Record<string, readonly boolean[]>>;
  /** Words for the axes of a range in names, outermost first; undefined: i, j, k, l. */
  readonly axes?: readonly string[];
  /** Comments to be put before the code of a line of the source. */
  readonly comments?: ReadonlyMap<number, readonly string[]>;
  /** Lines for the comment before the launch function. */
  readonly notes?: readonly string[];
  /** For languages that compile sizes in. */
  readonly sizes: LaunchSizes;
}

/** The sizes of one launch. */
interface LaunchSizes {
  readonly policy: Policy;
  /** Shapes and strides (in elements) of view and scatter parameters. */
  readonly views: Readonly<Record<string, { readonly shape: readonly number[]; readonly strides: readonly number[] }>>;
}

/** A file to be written, by its name in the folder. */
export interface EmittedFile {
  readonly name: string;
  readonly text: string;
}

/** Views whose last index is contiguous, as dense arrays in C order are. */
export function contiguousRows(ir: KernelIR): EmitRequest["unitStrides"] {
  const arrays = ir.params.filter((p) => p.kind === "view" || p.kind === "scatter");
  return Object.fromEntries(arrays.map(({ name, rank }) => [name, Array.from({ length: rank }, (_, axis) => axis === rank - 1)]));
}

/** The strides that are compiled in for arrays that lie in memory like these. */
export function unitStridesOf(views: LaunchSizes["views"]): EmitRequest["unitStrides"] {
  return Object.fromEntries(Object.entries(views).map(([name, { strides }]) => [name, strides.map((stride) => stride === 1)]));
}

/** A kernel's name as the beginning of identifiers: itself where it can be. */
export const stemOf = (name: string): string => (/^[A-Za-z]\w{0,63}$/.test(name) ? name : wordOf(name));

/** A launch over `bounds` along each axis (over as many teams), of dense arrays with `size` indices along each axis. */
export function cubicSizes(ir: KernelIR, size: number, bounds: readonly (readonly [begin: number, end: number])[] = []): LaunchSizes {
  const arrays = ir.params.filter((p) => p.kind === "view" || p.kind === "scatter");
  const axes = Array.from({ length: ir.policy.kind === "range" ? ir.policy.rank : 1 }, (_, axis) => bounds[axis] ?? [0, size]);
  const extents = axes.map(([begin, end]) => end - begin);
  return {
    policy:
      ir.policy.kind === "range" ? { kind: "range", begin: axes.map(([begin]) => begin), extents } : { kind: "team", league: extents[0] },
    views: Object.fromEntries(
      arrays.map(({ name, rank }) => [
        name,
        { shape: Array<number>(rank).fill(size), strides: Array.from({ length: rank }, (_, axis) => size ** (rank - 1 - axis)) },
      ]),
    ),
  };
}
