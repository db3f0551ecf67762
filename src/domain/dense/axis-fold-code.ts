import { define, localOf, paramOf } from "../../ir/by-name.js";
import { add, binary, compare, index, int, mul, sub } from "../../ir/expressions.js";
import { Names } from "../../ir/passes/copy.js";
import { literal } from "../../ir/simplify.js";
import type { Expr, KernelIR, Location, Param, ReduceParam, Stmt } from "../../ir/types.js";
import { mapExpr, mapStmts } from "../../ir/walk.js";
import type { AxisFold } from "../grid/grid.js";

/*
 * Reductions along axes, in code over the storage of a box: an element for each place along the axes that stay, loops over the others. Where x is
 * one of the others, lanes side by side share out each row, so that memory is read in order all the same.
 */

/** Elements that share out a row. Strict results depend on their number. */
export const LANES = 16;

/** Which axes of the kernel, (z, y, x) or (y, x), stay, and how the others are folded. */
export interface FoldShape {
  readonly stays: readonly boolean[];
  /** The axis whose cells several elements share out, each of them a chunk. */
  readonly chunked?: number;
  /** Each plane of the chunked axis is folded on its own before it is folded into its chunk. */
  readonly byPlanes: boolean;
  /** The length of the rows is not a multiple of the lanes. */
  readonly ragged: boolean;
}

export interface AxisFoldCode {
  readonly ir: KernelIR;
  /** For each reduction the view of partial results: [component][chunk][places along axes that stay][lane], the chunk and the lane where there are any. */
  readonly partials: readonly string[];
  /** Names of i32 parameters: where folds begin and end along each axis, and cells of a chunk. */
  readonly begin: readonly string[];
  readonly end: readonly string[];
  readonly chunk?: string;
}

/** A reduction with the names of its locals: `inner` takes values, and is folded into `local` at the end of each plane where the two are not one. */
type Reduced = ReduceParam & { readonly local: string; readonly inner: string };

const started = ({ type, identity }: ReduceParam, name: string, location: Location): Stmt => {
  return { kind: "let", name, type, init: literal(type, identity), location };
};

const folded = ({ op, type }: ReduceParam, name: string, value: Expr, location: Location): Stmt => {
  const fn = op === "sum" ? "add" : (op as "min" | "max");
  return { kind: "assign", name, value: binary(fn, localOf(name, type), value), location };
};

/** A plane, which starts anew and is folded into its chunk at its end. */
const onePlane = (reduces: readonly Reduced[], inner: readonly Stmt[], location: Location): Stmt[] => [
  ...reduces.map((reduce) => started(reduce, reduce.inner, location)),
  ...inner,
  ...reduces.map((reduce) => folded(reduce, reduce.local, localOf(reduce.inner, reduce.type), location)),
];

/** @param ir a container's code over storage, that folds once into each reduction at its end */
export function axisFoldCode(ir: KernelIR, folds: readonly AxisFold[], { stays, chunked, byPlanes, ragged }: FoldShape): AxisFoldCode {
  const { location } = ir;
  const names = new Names(ir);
  const scalar = (wish: string): string => names.fresh(wish);
  const [begin, end] = [stays.map(() => scalar("begin")), stays.map(() => scalar("end"))];
  const chunk = chunked === undefined ? undefined : scalar("chunk");
  const last = stays.length - 1;

  /** Axes of the new kernel, by what they stand for. */
  const axes: (number | "chunk" | "lane")[] = [
    ...(chunk === undefined ? [] : ["chunk" as const]),
    ...stays.flatMap((stay, axis) => (stay ? [axis] : [])),
    ...(stays[last] ? [] : ["lane" as const]),
  ];
  const at = (of: (typeof axes)[number]): Expr => index(axes.indexOf(of));
  const number = (name: string): Expr => paramOf(name, "i32");
  const counters = stays.map((stay, axis) => (stay ? undefined : names.fresh(`${"zyx".slice(-stays.length)[axis]}_fold`)));
  const place = (axis: number): Expr => (stays[axis] ? at(axis) : localOf(counters[axis]!, "i32"));

  const reduces = new Map<string, Reduced>(
    ir.params.flatMap((p) => {
      if (p.kind !== "reduce") return [];
      const local = names.fresh(`${p.name}_fold`);
      return [[p.name, { ...p, local, inner: byPlanes ? names.fresh(`${p.name}_plane`) : local }]];
    }),
  );
  const body = mapStmts(ir.body, {
    expr: (root) => mapExpr(root, (node) => (node.op === "index" ? place(node.axis) : node)),
    stmt: (stmt): Stmt => {
      if (stmt.kind !== "reduce") return stmt;
      const reduce = reduces.get(stmt.target)!;
      return folded(reduce, reduce.inner, stmt.value, stmt.location);
    },
  });
  const looped = stays.reduceRight<Stmt[]>((within, stay, axis) => {
    if (stay) return within;
    const inner = byPlanes && axis === chunked ? onePlane([...reduces.values()], within, location) : within;
    const name = counters[axis]!;
    const [start, stop] = [number(begin[axis]), number(end[axis])];
    if (axis === last) {
      const first = names.fresh("x_first");
      const inRow: Stmt[] = ragged
        ? [{ kind: "if", cond: compare("lt", localOf(name, "i32"), stop), then: inner, else: [], location }]
        : inner;
      const lane = define(name, add(localOf(first, "i32"), at("lane")), location);
      return [{ kind: "for", name: first, start, stop, step: LANES, body: [lane, ...inRow], location }];
    }
    if (axis !== chunked) return [{ kind: "for", name, start, stop, step: 1, body: inner, location }];
    const [from, to] = [names.fresh("first"), names.fresh("stop")];
    return [
      define(from, add(start, mul(at("chunk"), number(chunk!))), location),
      define(to, binary("min", add(localOf(from, "i32"), number(chunk!)), stop), location),
      { kind: "for", name, start: localOf(from, "i32"), stop: localOf(to, "i32"), step: 1, body: inner, location },
    ];
  }, body);

  const partials = folds.map(({ array }) => names.fresh(`${array.name.replace(/\W/g, "_")}_partials`));
  const here = axes.map((of) => (typeof of === "number" ? sub(at(of), number(begin[of])) : at(of)));
  const components = folds.flatMap(({ params }, n) =>
    params.map((param, k) => ({ reduce: reduces.get(param)!, view: partials[n], indices: [int(k), ...here] })),
  );
  const starts = components.map(({ reduce }) => started(reduce, reduce.local, location));
  const ends = components.map(({ reduce: { local, type }, view, indices }): Stmt => {
    return { kind: "store", view, indices, value: localOf(local, type), location };
  });
  const views = folds.map(({ array }, n): Param => {
    const rank = axes.length + 1;
    return { kind: "view", name: partials[n], element: array.type, rank, disjoint: true, trusted: [...Array(rank).keys()] };
  });
  const numbers = [...begin, ...end, ...(chunk === undefined ? [] : [chunk])].map((name): Param => ({ kind: "scalar", name, type: "i32" }));
  const code: KernelIR = {
    ...ir,
    policy: { kind: "range", rank: axes.length },
    params: [...ir.params.filter((param) => param.kind !== "reduce"), ...views, ...numbers],
    body: [...starts, ...looped, ...ends],
  };
  return { ir: code, partials, begin, end, chunk };
}
