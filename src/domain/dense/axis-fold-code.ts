import { define, localOf, paramOf } from "../../ir/by-name.js";
import { add, binary, compare, index, int, mul, sub } from "../../ir/expressions.js";
import { FreshNames } from "../../ir/passes/copy.js";
import { literal } from "../../ir/simplify.js";
import type { Expr, KernelIR, Location, Param, ReduceParam, Stmt } from "../../ir/types.js";
import { mapExpr, mapStmts } from "../../ir/walk.js";
import type { AxisFold } from "../grid/grid.js";

/*
 * Reductions along axes, in code over the storage of a box: an element for each place along the axes that stay, loops over the others. Where x is
 * one of the others, lanes side by side share out each row, so that memory is read in order all the same.
 */

/** Elements that share out a row. Strict results depend on their number. */
export const FOLD_LANES = 16;

/** Which axes of the kernel, (z, y, x) or (y, x), stay, and how the others are folded. */
export interface FoldShape {
  readonly stays: readonly boolean[];
  /** Axes whose cells several elements share out, each of them a chunk. */
  readonly chunked: readonly number[];
  /** Each plane, of the first axis, is folded on its own before it is folded into its chunk. */
  readonly byPlanes: boolean;
  /** The length of the rows is not a multiple of the lanes. */
  readonly ragged: boolean;
}

export interface AxisFoldCode {
  readonly ir: KernelIR;
  /** For each reduction the view of partial results: [component][chunks][places along axes that stay][lane], chunks and the lane where there are any. */
  readonly partials: readonly string[];
  /** Names of i32 parameters: where folds begin and end along each axis. */
  readonly begin: readonly string[];
  readonly end: readonly string[];
  /** The same of each chunked axis: where its first chunk begins, maybe before the cells, and cells of a chunk. */
  readonly chunks: readonly { readonly first: string; readonly size: string }[];
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
  const names = new FreshNames(ir);
  const scalar = (wish: string): string => names.fresh(wish);
  const [begin, end] = [stays.map(() => scalar("begin")), stays.map(() => scalar("end"))];
  const chunks = chunked.map(() => ({ first: scalar("chunk_first"), size: scalar("chunk") }));
  const last = stays.length - 1;

  // Axes of the new kernel: chunks, axes that stay, lanes.
  const kept = [...stays.keys()].filter((axis) => stays[axis]);
  const rank = chunks.length + kept.length + (stays[last] ? 0 : 1);
  const at = (axis: number): Expr => index(chunks.length + kept.indexOf(axis));
  const lane = index(rank - 1);
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
    const inner = byPlanes && axis === 0 ? onePlane([...reduces.values()], within, location) : within;
    const name = counters[axis]!;
    const [start, stop] = [number(begin[axis]), number(end[axis])];
    if (axis === last) {
      const first = names.fresh("x_first");
      const inRow: Stmt[] = ragged
        ? [{ kind: "if", cond: compare("lt", localOf(name, "i32"), stop), then: inner, else: [], location }]
        : inner;
      const own = define(name, add(localOf(first, "i32"), lane), location);
      return [{ kind: "for", name: first, start, stop, step: FOLD_LANES, body: [own, ...inRow], location }];
    }
    const nth = chunked.indexOf(axis);
    if (nth < 0) return [{ kind: "for", name, start, stop, step: 1, body: inner, location }];
    const [from, to] = [names.fresh("first"), names.fresh("stop")];
    const [origin, size] = [number(chunks[nth].first), number(chunks[nth].size)];
    return [
      define(from, add(origin, mul(index(nth), size)), location),
      define(to, binary("min", add(localOf(from, "i32"), size), stop), location),
      { kind: "for", name, start: binary("max", localOf(from, "i32"), start), stop: localOf(to, "i32"), step: 1, body: inner, location },
    ];
  }, body);

  const partials = folds.map(({ array }) => names.fresh(`${array.name.replace(/\W/g, "_")}_partials`));
  const places = kept.map((axis) => sub(at(axis), number(begin[axis])));
  const here = [...chunks.map((_, n) => index(n)), ...places, ...(stays[last] ? [] : [lane])];
  const components = folds.flatMap(({ params }, n) =>
    params.map((param, k) => ({ reduce: reduces.get(param)!, view: partials[n], indices: [int(k), ...here] })),
  );
  const starts = components.map(({ reduce }) => started(reduce, reduce.local, location));
  const ends = components.map(({ reduce: { local, type }, view, indices }): Stmt => {
    return { kind: "store", view, indices, value: localOf(local, type), location };
  });
  const views = folds.map(({ array }, n): Param => {
    return { kind: "view", name: partials[n], element: array.type, rank: rank + 1, disjoint: true, trusted: [...Array(rank + 1).keys()] };
  });
  const scalars = [...begin, ...end, ...chunks.flatMap(({ first, size }) => [first, size])];
  const numbers = scalars.map((name): Param => ({ kind: "scalar", name, type: "i32" }));
  const code: KernelIR = {
    ...ir,
    policy: { kind: "range", rank },
    params: [...ir.params.filter((param) => param.kind !== "reduce"), ...views, ...numbers],
    body: [...starts, ...looped, ...ends],
  };
  return { ir: code, partials, begin, end, chunks };
}
