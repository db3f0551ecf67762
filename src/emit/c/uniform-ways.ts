import { jsonText } from "../../base/json.js";
import type { AccessAnalysis } from "../../ir/analysis/access.js";
import { definitionsOf } from "../../ir/analysis/affine.js";
import { withoutReplaced } from "../../ir/passes/live-values.js";
import { isInteger } from "../../ir/scalars.js";
import { simplify, type Const } from "../../ir/simplify.js";
import type { Expr, Stmt } from "../../ir/types.js";
import { blocksOf, children, declares, mapChildren, mapExpr, mapStmts, sizeOf, someExpr, walkStmts } from "../../ir/walk.js";
import { isStraight, isVariable, type LoopVariable } from "./vector.js";

/*
 * Ways of elements through long branches on integers that each loads from memory which nothing changes, such as the kind of a cell. The loads are
 * keys: elements with the same keys go the same way.
 */

type Load = Extract<Expr, { op: "load" }>;
type If = Extract<Stmt, { kind: "if" }>;

/** Statements and expressions from which a branch is long: finding out who goes the same way costs a few instructions an element. */
const LONG = 64;
/** Branches that are decided for several elements at once, at most. */
const MOST = 4;
/** Size of the bodies of all ways over the loop's, at most: code takes compilers long. */
const GROWTH = 2;

/** Value that elements have in common, and the local in its place. */
export interface UniformKey {
  readonly name: string;
  readonly load: Load;
  /** It is loaded where this is true of the keys before it; absent: always. */
  readonly guard?: Expr;
}

/** A body that is left once all long branches on keys are decided. */
interface Way {
  /** Over keys: the elements go this way. */
  readonly cond: Expr;
  readonly body: readonly Stmt[];
}

export interface Uniform {
  readonly keys: readonly UniformKey[];
  /** Ways without long branches on keys; others are left to the loop's own body. */
  readonly ways: readonly Way[];
  /** There are no others. */
  readonly complete: boolean;
}

/** The ways of a loop's elements; undefined if there are no long branches on keys, or none can be left out. */
export function uniformWays(
  loop: { readonly variable: LoopVariable; readonly body: readonly Stmt[] },
  access: AccessAnalysis,
): Uniform | undefined {
  const found = new Keys(loop.variable, loop.body, access);
  found.search(loop.body);
  if (found.keys.length === 0) return undefined;
  const body = mapStmts(loop.body, { expr: (e) => found.inPlace(e) });
  const { ways, left } = new Ways(loop.variable, body, found.keys).all();
  const room = GROWTH * sizeOf(loop.body);
  let size = 0;
  const kept = ways.sort((a, b) => sizeOf(a.body) - sizeOf(b.body)).filter((way) => (size += sizeOf(way.body)) <= room);
  if (kept.length === 0) return undefined;
  return { keys: found.keys, ways: kept, complete: !left && kept.length === ways.length };
}

/** Expressions of a body without its locals, as far as they have one value. */
function resolver(body: readonly Stmt[]): (e: Expr) => Expr {
  const definitions = definitionsOf(body);
  const resolved = (e: Expr): Expr => {
    const value = e.op === "local" ? definitions.get(e.name) : undefined;
    return value ? resolved(value) : mapChildren(e, resolved);
  };
  return resolved;
}

/** Tells expressions that may differ from element to element, `own` being the loop's variable. */
function changing(body: readonly Stmt[], own: (e: Expr) => boolean): (e: Expr) => boolean {
  const declared = new Set<string>();
  walkStmts(body, (stmt) => declares(stmt).forEach((name) => declared.add(name)));
  return (e) => own(e) || e.op === "load" || e.op === "element" || e.op === "checked" || (e.op === "local" && declared.has(e.name));
}

const not = (a: Expr): Expr => simplify({ op: "unary", type: "bool", fn: "not", a });
const join = (fn: "and" | "or", a: Expr | undefined, b: Expr): Expr => (a ? { op: "logical", type: "bool", fn, a, b } : b);

/** Finds the keys of a loop. */
class Keys {
  private readonly found = new Map<string, UniformKey>();
  private readonly resolved: (e: Expr) => Expr;
  private readonly changes: (e: Expr) => boolean;
  private readonly isOwn: (e: Expr) => boolean;
  private branches = 0;

  constructor(
    variable: LoopVariable,
    body: readonly Stmt[],
    private readonly access: AccessAnalysis,
  ) {
    this.isOwn = isVariable(variable);
    this.resolved = resolver(body);
    this.changes = changing(body, this.isOwn);
  }

  get keys(): readonly UniformKey[] {
    return [...this.found.values()];
  }

  /** Notes what long branches of the statements depend on, then those in them. */
  search(list: readonly Stmt[], guard?: Expr): void {
    const inner: [list: readonly Stmt[], guard: Expr][] = [];
    for (const stmt of list) {
      if (stmt.kind !== "if" || this.branches === MOST || sizeOf([stmt]) < LONG) continue;
      const condition = this.resolved(stmt.cond);
      if (!someExpr(condition, this.isKey) || this.otherwise(condition)) continue;
      this.branches++;
      const cond = this.over(condition, guard);
      inner.push([stmt.then, join("and", guard, cond)], [stmt.else, join("and", guard, not(cond))]);
    }
    for (const [block, condition] of inner) this.search(block, condition);
  }

  /** The expression with keys in the places of loads. */
  inPlace(e: Expr): Expr {
    if (e.op !== "load") return mapChildren(e, (child) => this.inPlace(child));
    const whole = this.resolved(e);
    const key = this.isKey(whole) ? this.found.get(placeOf(whole)) : undefined;
    return key ? localOf(key) : mapChildren(e, (child) => this.inPlace(child));
  }

  private readonly isKey = (e: Expr): e is Load =>
    e.op === "load" &&
    isInteger(e.type) &&
    !this.access.views[e.view]?.written &&
    e.indices.every((index) => !someExpr(index, (x) => this.changes(x) && !this.isOwn(x)));

  /** Tells whether something else than keys decides. */
  private otherwise(e: Expr): boolean {
    return !this.isKey(e) && (this.changes(e) || children(e).some((child) => this.otherwise(child)));
  }

  private over(e: Expr, guard: Expr | undefined): Expr {
    return this.isKey(e) ? localOf(this.note(e, guard)) : mapChildren(e, (child) => this.over(child, guard));
  }

  private note(load: Load, guard: Expr | undefined): UniformKey {
    const place = placeOf(load);
    const known = this.found.get(place);
    const count = known ? 0 : this.found.size;
    const name = known?.name ?? `${load.view} here${count > 0 ? ` ${count}` : ""}`;
    const key: UniformKey = { name, load, guard: known ? eitherOf(known.guard, guard) : guard };
    this.found.set(place, key);
    return key;
  }
}

/** Undefined: always true. */
const eitherOf = (a: Expr | undefined, b: Expr | undefined): Expr | undefined =>
  a && b && (jsonText(a) === jsonText(b) ? a : join("or", a, b));

const placeOf = (load: Load): string => `${load.view} ${jsonText(load.indices)}`;
const localOf = ({ name, load }: UniformKey): Expr => ({ op: "local", type: load.type, name });

/** Goes through a body over keys. */
class Ways {
  readonly ways: Way[] = [];
  /** There are others, in which long branches on keys are left. */
  left = false;
  private readonly resolved: (e: Expr) => Expr;
  private readonly changes: (e: Expr) => boolean;
  private readonly names: ReadonlySet<string>;

  constructor(
    variable: LoopVariable,
    private readonly body: readonly Stmt[],
    keys: readonly UniformKey[],
  ) {
    this.resolved = resolver(body);
    this.changes = changing(body, isVariable(variable));
    this.names = new Set(keys.map(({ name }) => name));
  }

  all(): this {
    this.go(this.body, undefined, new Map(), 0);
    return this;
  }

  /** @param known keys whose values are decided */
  private go(body: readonly Stmt[], cond: Expr | undefined, known: ReadonlyMap<string, Const>, depth: number): void {
    const n = depth < MOST ? body.findIndex((stmt) => stmt.kind === "if" && sizeOf([stmt]) >= LONG && this.isDecided(stmt)) : -1;
    if (n < 0) return this.end(body, cond!);
    const branch = body[n] as If;
    const own = this.resolved(branch.cond);
    const value = mapExpr(own, (e) => (e.op === "local" && known.get(e.name)) || simplify(e));
    for (const side of [true, false]) {
      if (value.op === "const" && value.value !== side) continue;
      const rest = [...body.slice(0, n), ...(side ? branch.then : branch.else), ...body.slice(n + 1)];
      if (value.op === "const") this.go(rest, cond, known, depth + 1);
      else this.go(rest, join("and", cond, side ? own : not(own)), new Map([...known, ...factOf(own, side)]), depth + 1);
    }
  }

  private end(body: readonly Stmt[], cond: Expr): void {
    const short = isStraight(body) ? withoutReplaced(body) : body;
    if (this.undecided(short) < LONG) this.ways.push({ cond, body: short });
    else this.left = true;
  }

  private isDecided({ cond }: If): boolean {
    const own = this.resolved(cond);
    return someExpr(own, (e) => e.op === "local" && this.names.has(e.name)) && !someExpr(own, this.changes);
  }

  /** Size of what depends on keys still. */
  private undecided(list: readonly Stmt[]): number {
    let size = 0;
    for (const stmt of list)
      if (stmt.kind === "if" && this.isDecided(stmt)) size += sizeOf([stmt]);
      else for (const block of blocksOf(stmt)) size += this.undecided(block);
    return size;
  }
}

/** The key that has a constant value where the condition turns out so. */
function factOf(cond: Expr, side: boolean): [name: string, value: Const][] {
  if (cond.op !== "compare" || cond.fn !== (side ? "eq" : "ne")) return [];
  const [a, b] = cond.a.op === "const" ? [cond.b, cond.a] : [cond.a, cond.b];
  return a.op === "local" && b.op === "const" ? [[a.name, b]] : [];
}
