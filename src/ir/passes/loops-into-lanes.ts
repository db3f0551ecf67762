import { jsonText } from "../../base/json.js";
import { affineOf, coefficient, definitionsOf, type Definitions } from "../analysis/affine.js";
import { define, localOf } from "../by-name.js";
import { isExact } from "../loop-stops.js";
import { isPacked } from "../scalars.js";
import { simplify } from "../simplify.js";
import type { Expr, KernelIR, NumericType, Stmt } from "../types.js";
import { blocksOf, changedIn, children, declares, exprsOf, mapBlocks, mapExpr, someExpr, walkStmts } from "../walk.js";
import { FreshNames } from "./copy.js";

/*
 * Members or lanes that go through their elements again in each turn of a loop, as a matrix product's do that add to a row of sums, go through the loop
 * instead, each for its own element. What an element holds then stays in a register from turn to turn. No bit of any result changes.
 */

type Loop = Extract<Stmt, { kind: "for" }>;
type Lanes = Extract<Stmt, { kind: "teamFor" }>;
type Store = Extract<Stmt, { kind: "store" | "setElement" }>;

/** Elements from which on each turn reads memory in order as it is. */
const MOST_LANES = 256;

/** The kernel with such loops inside; no two views may share memory. */
export function loopsIntoLanes(ir: KernelIR): KernelIR {
  if (ir.policy.kind !== "team" || ir.checks || ir.prints) return ir;
  const packed = new Set(ir.params.flatMap((param) => (param.kind === "view" && isPacked(param.element) ? [param.name] : [])));
  const inside = new Interchange(new FreshNames(ir), definitionsOf(ir.body), packed);
  const block = (body: readonly Stmt[]): Stmt[] => body.map((stmt) => (stmt.kind === "for" && inside.of(stmt)) || mapBlocks(stmt, block));
  return { ...ir, body: block(ir.body) };
}

/** An element that each lane has for itself through all turns. */
interface Own {
  readonly place: Expr;
  readonly name: string;
  readonly type: NumericType;
  readonly last: Store;
}

class Interchange {
  constructor(
    private readonly names: FreshNames,
    private readonly definitions: Definitions,
    private readonly packed: ReadonlySet<string>,
  ) {}

  /** The lanes that each go through the loop; undefined where they cannot. */
  of(loop: Loop): Stmt | undefined {
    const lanes = loop.body.at(-1);
    const head = loop.body.slice(0, -1);
    if (lanes?.kind !== "teamFor" || lanes.count.op !== "const" || Number(lanes.count.value) > MOST_LANES || isExact(loop.stop))
      return undefined;
    const own = this.ownElements(loop, head, lanes);
    if (!own) return undefined;
    const { location } = lanes;
    const take = (e: Expr): Expr => {
      const held = own.get(keyOf(e));
      return held ? localOf(held.name, held.type) : e;
    };
    const body = lanes.body.map((stmt): Stmt => {
      if (stmt.kind === "let") return { ...stmt, ...(stmt.init && { init: mapExpr(stmt.init, take) }) };
      const { name } = own.get(keyOf(placeOf(stmt as Store)))!;
      return { kind: "assign", name, value: mapExpr((stmt as Store).value, take), location: stmt.location };
    });
    const held = [...own.values()];
    const turns: Loop = { ...loop, body: [...head, ...body] };
    const each: Stmt = {
      ...lanes,
      body: [
        ...held.map(({ name, place }) => define(name, place, location)),
        turns,
        ...held.map(({ name, type, last }): Stmt => ({ ...last, value: localOf(name, type) })),
      ],
    };
    const any = simplify({ op: "compare", type: "bool", fn: loop.step > 0 ? "lt" : "gt", a: loop.start, b: loop.stop });
    return any.op === "const" && any.value ? each : { kind: "if", cond: any, then: [each], else: [], location };
  }

  /** The elements that lanes store to, by their places; undefined where a lane may meet another's, or turns differ in their places. */
  private ownElements(loop: Loop, head: readonly Stmt[], lanes: Lanes): Map<string, Own> | undefined {
    const own = new Map<string, Own>();
    const changing = new Set([loop.name]);
    walkStmts(loop.body, (stmt) => declares(stmt).forEach((name) => changing.add(name)));
    changing.delete(lanes.name);
    const isOwn = (place: Expr): boolean =>
      children(place).some(
        (index) => coefficient(affineOf(index, this.definitions) ?? { constant: 0, terms: {} }, `local:${lanes.name}`) !== 0,
      ) && !children(place).some((index) => someExpr(index, (x) => isMemory(x) || (x.op === "local" && changing.has(x.name))));
    for (const stmt of lanes.body) {
      if (stmt.kind === "let") continue;
      if (stmt.kind !== "store" && stmt.kind !== "setElement") return undefined;
      const place = placeOf(stmt);
      if (!isOwn(place) || (stmt.kind === "store" && this.packed.has(stmt.view))) return undefined;
      const type = place.type as NumericType;
      own.set(keyOf(place), { place, type, last: stmt, name: own.get(keyOf(place))?.name ?? this.names.fresh("held") });
    }
    const written = changedIn(lanes.body, "view", "array");
    const arrays = new Set([...own.values()].map(({ place }) => nameOf(place)));
    const meets = (e: Expr): boolean => someExpr(e, (x) => isMemory(x) && written.has(nameOf(x)));
    const isPlain = (stmt: Stmt): boolean => stmt.kind === "let" && stmt.init !== undefined && !meets(stmt.init);
    if (own.size === 0 || arrays.size < own.size || !head.every(isPlain) || meets(loop.start) || meets(loop.stop)) return undefined;
    const others = (e: Expr): boolean => someExpr(e, (x) => isMemory(x) && written.has(nameOf(x)) && !own.has(keyOf(x)));
    return lanes.body.flatMap(exprsOf).some(others) || lanes.body.some((stmt) => blocksOf(stmt).length > 0) ? undefined : own;
  }
}

const isMemory = (e: Expr): e is Extract<Expr, { op: "load" | "element" }> => e.op === "load" || e.op === "element";
const nameOf = (e: Expr): string => (e.op === "load" ? e.view : e.op === "element" ? e.array : "");

/** Read of the place that a statement stores to. */
function placeOf(stmt: Store): Expr {
  const { type } = stmt.value as { type: NumericType };
  return stmt.kind === "store"
    ? { op: "load", type, view: stmt.view, indices: stmt.indices }
    : { op: "element", type, array: stmt.array, index: stmt.index };
}

const keyOf = (e: Expr): string => jsonText(e, "location");
