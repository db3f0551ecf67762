import { ownIdentifier, type Identifier } from "../base/names.js";
import { REDUCTION_LANES, type NumericType, type ReduceParam, type ScatterOp } from "../ir/types.js";
import type { Body, FoldOp } from "./body.js";
import {
  add,
  assign,
  BARRIER,
  cast,
  div,
  element,
  eq,
  fixed,
  gt,
  halving,
  inBlock,
  local,
  lt,
  num,
  read,
  rem,
  select,
  thread,
  upTo,
  valueOf,
  variable,
  when,
  word,
  write,
} from "./build.js";
import { BLOCK, operationOf, type EntrySchedule } from "./entry.js";
import type { Expr, Memory, Place, Stmt, Word } from "./nodes.js";

const LANES = REDUCTION_LANES;
/** Number of the thread in its block, and how many there are, where an entry has declared them. */
export const THREAD = local("thread", "int");
export const THREADS = local("threads", "int");
export const isFirstThread = eq(THREAD, 0);

/** The first thread of every 2 * `step` gets the fold of their values. */
export function foldDown(entry: EntrySchedule, op: FoldOp | ReduceParam, type: NumericType, accumulator: Place, step: number): void {
  const name = entry.names.fresh("step");
  entry.out.put(
    halving(
      name,
      step,
      entry.out.inside(() => entry.foldInto(entry.body, op, type, accumulator, shuffled(type, accumulator, name))),
    ),
  );
}

const shuffled = (type: NumericType, accumulator: Place, step: Identifier): Expr => ({
  op: "shuffle",
  type,
  how: "down",
  value: valueOf(accumulator),
  by: local(step, "int"),
});

/** Folds the accumulators of 8 neighbouring threads into the first of them, as the strict order wants it; all threads of a block take part. */
export function foldLanes(entry: EntrySchedule, parts: readonly ReduceParam[], accumulators: readonly Place[]): void {
  const { out, names, features } = entry;
  const [step, lane] = [names.fresh("step"), names.fresh("lane")];
  if (features.warp > 0) {
    const others = parts.map(({ type }, n) => shuffled(type, accumulators[n]!, step));
    const folded = out.inside(() => entry.foldAll(entry.body, parts, accumulators, others));
    return void out.put(halving(step, LANES / 2, folded));
  }
  const own = thread("x");
  const lanes = parts.map(({ name, type }) => entry.sharedArray(names.fresh(`${name}_lanes`), type, BLOCK));
  out.put(BARRIER, ...lanes.map((memory, n) => write(memory, own, valueOf(accumulators[n]!))), BARRIER);
  const at = local(lane, "int");
  const places = lanes.map((memory) => element(memory, at));
  const others = lanes.map((memory) => read(memory, add(at, local(step, "int"))));
  const folded = out.inside(() => entry.foldAll(entry.body, parts, places, others));
  out.put(
    when(eq(rem(own, LANES), 0), [
      halving(step, LANES / 2, [upTo(lane, cast(own, "int"), add(cast(own, "int"), local(step, "int")), 1, folded)]),
      ...lanes.map((memory, n) => assign(accumulators[n]!, read(memory, own))),
    ]),
  );
}

const GROUP_FOLDS: Record<ScatterOp, Word> = { sum: "groupSum", min: "groupMin", max: "groupMax" };

/** Folds the accumulators of a block of `most` threads at most through its memory; all threads then run what `use` makes. */
export function foldByHalves(
  entry: EntrySchedule,
  body: Body,
  of: { readonly op: FoldOp | ReduceParam; readonly type: NumericType; readonly accumulator: Place },
  most: number,
  use: (total: Expr) => readonly Stmt[],
): void {
  const { names, features } = entry;
  const { out } = body;
  const { op, type, accumulator } = of;
  const operation = operationOf(op);
  const fold = typeof operation === "string" && features.groupFolds(operation, type) ? GROUP_FOLDS[operation] : undefined;
  const [partsName, leftName, halfName] = ["parts", "left", "half_left"].map((wish) => names.fresh(wish)) as [
    Identifier,
    Identifier,
    Identifier,
  ];
  const parts = entry.sharedArray(partsName, type, most);
  if (fold) {
    out.put(assign(accumulator, word(fold, type, valueOf(accumulator))));
    out.put(when(word("isFirstOfGroup", "bool"), [write(parts, word("groupNumber", "u32"), valueOf(accumulator))]));
  } else out.put(write(parts, THREAD, valueOf(accumulator)));
  out.put(BARRIER);
  const [left, half] = [local(leftName, "int"), local(halfName, "int")];
  const turn = out.inside(() => {
    out.put(fixed(halfName, div(add(left, 1), 2)));
    const folded = out.inside(() => entry.foldInto(body, op, type, element(parts, THREAD), read(parts, add(THREAD, half))));
    out.put(when(lt(add(THREAD, half), left), folded), assign(variable(leftName, "int"), half), BARRIER);
  });
  const start = fold ? cast(word("groups", "u32"), "int") : THREADS;
  out.put({ kind: "loop", id: leftName, type: "int", start, cond: gt(left, 1), body: turn });
  out.put(...use(read(parts, num(0))));
}

/**
 * Folds the accumulators of a block's threads in any order; thread 0 then runs what `use` makes. Needs `thread`, and `threads` where their number is
 * not known.
 */
export function foldBlock(
  entry: EntrySchedule,
  param: ReduceParam,
  accumulator: Place,
  use: (total: Expr) => readonly Stmt[],
  known?: number,
): void {
  const { out, names, features } = entry;
  const { warp } = features;
  const { type } = param;
  if (warp === 0) {
    const most = Math.max(BLOCK, features.finishThreads);
    return foldByHalves(entry, entry.body, { op: param, type, accumulator }, most, (total) => [when(isFirstThread, use(total))]);
  }
  const name = names.fresh(`${param.name}_warps`);
  foldDown(entry, param, type, accumulator, warp / 2);
  const warps = entry.sharedArray(name, type, warp);
  out.put(storeByWarp(warps, warp, accumulator), BARRIER);
  const count = known === undefined ? div(THREADS, warp) : num(known / warp);
  const rest = out.inside(() => {
    out.put(assign(accumulator, select(lt(THREAD, count), read(warps, THREAD), entry.identity(param))));
    foldDown(entry, param, type, accumulator, known === undefined ? warp / 2 : known / warp / 2);
    out.put(when(isFirstThread, use(valueOf(accumulator))));
  });
  out.put(when(lt(THREAD, warp), rest));
}

/** The first thread of each warp stores its accumulator. */
export const storeByWarp = (warps: Memory, warp: number, accumulator: Place): Stmt =>
  when(eq(rem(THREAD, warp), 0), [write(warps, div(THREAD, warp), valueOf(accumulator))]);

/** Variable of a total. */
type TotalPlace = Extract<Place, { id: Identifier }>;
export const totalPlace = ({ type }: ReduceParam): TotalPlace => ({ id: ownIdentifier("total"), type });

/** Variables of the totals of parts. */
export const totalPlaces = (entry: EntrySchedule, parts: readonly ReduceParam[]): TotalPlace[] =>
  parts.map((param, n) => (n === 0 ? totalPlace(param) : { id: entry.names.fresh(`${param.name}_total`), type: param.type }));

/** A block of statements around variables that start with the identities of folds. */
export const aroundTotals = (
  entry: EntrySchedule,
  parts: readonly ReduceParam[],
  totals: readonly TotalPlace[],
  make: () => void,
): void => {
  const { out } = entry;
  out.put(
    inBlock(
      out.inside(() => {
        parts.forEach((param, n) => out.put({ kind: "let", id: totals[n]!.id, type: param.type, value: entry.identity(param) }));
        make();
      }),
    ),
  );
};
