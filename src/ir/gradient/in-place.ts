import { addAffine, affineOf, coefficient, definitionsOf, scaleAffine, type Affine, type Definitions } from "../analysis/affine.js";
import { assignedLocals, blocksOf, exprsOf, mapChildren, mapStmts, someExpr, walkExpr, walkExprs } from "../walk.js";
import type { Expr, KernelIR, Location, Stmt } from "../types.js";
import { printExpr } from "../kernel-text.js";
import { unreachable } from "../../base/unreachable.js";

/*
 * The adjoint of a kernel runs it forward again over the values from before the launch. A load of a view that the element has stored into would find
 * another value there. Either the adjoint stores, too, and takes that back afterwards, or the load is stale: the adjoint must not need its value.
 */

type LoadExpr = Extract<Expr, { op: "load" }>;
type StoreStmt = Extract<Stmt, { kind: "store" }>;

/** A load or store of a view, in the order of the code. */
interface Reached {
  readonly indices: readonly Expr[];
  /** Counters of the loops around, outermost first; of a loop that is not counted, a text of its own. */
  readonly loops: readonly string[];
  /** Branches around: number of the statement and of the side. */
  readonly branches: readonly (readonly [statement: number, side: number])[];
  readonly order: number;
}
interface Read extends Reached {
  readonly node: LoadExpr;
}
interface Write extends Reached {
  readonly stmt: StoreStmt;
}

/** Loads whose values may have changed, by the name that stands for the view: the view, and the load as it was written. */
export type StaleLoads = ReadonlyMap<string, { readonly view: string; readonly text: string }>;

/** Loads and stores of a kernel by view. */
export interface InPlace {
  /** Views that the adjoint stores into, and restores. */
  readonly repeated: ReadonlySet<string>;
  /** The body with other names for views that may have changed where they are read. */
  readonly body: Stmt[];
  readonly stale: StaleLoads;
}

/** Finds views that the kernel both reads and stores into. */
export function inPlaceOf(ir: KernelIR): InPlace {
  const places = new Places(ir.body);
  const repeated = new Set<string>();
  const staleLoads = new Set<LoadExpr>();
  const stale = new Map<string, { view: string; text: string }>();
  const names = new Map<LoadExpr, string>();
  for (const { name } of ir.params) {
    const writes = places.writes.get(name) ?? [];
    for (const read of places.reads.get(name) ?? []) {
      const before = writes.filter((write) => places.mayMeet(write, read));
      if (before.some((write) => write.loops.length > 0)) staleLoads.add(read.node);
      else if (before.length > 0) repeated.add(name);
    }
  }
  for (const node of staleLoads) {
    const name = `${node.view} after a store, ${stale.size}`;
    names.set(node, name);
    stale.set(name, { view: node.view, text: printExpr(node) });
  }
  const marked = (expr: Expr): Expr => {
    const inner = mapChildren(expr, marked);
    const name = expr.op === "load" ? names.get(expr) : undefined;
    return name === undefined ? inner : { ...(inner as LoadExpr), view: name };
  };
  return { repeated, stale, body: staleLoads.size === 0 ? ir.body : mapStmts(ir.body, { expr: marked }) };
}

/** The first load of a stale value that the code needs. */
export function staleLoadIn(body: readonly Stmt[], stale: StaleLoads): { view: string; text: string; location: Location } | undefined {
  let found: { view: string; text: string; location: Location } | undefined;
  walkExprs(body, (node, { location }) => {
    const load = node.op === "load" ? stale.get(node.view) : undefined;
    if (load) found ??= { ...load, location };
  });
  return found;
}

/** Accesses of views, and whether two of them may meet. */
export class Places {
  readonly reads = new Map<string, Read[]>();
  readonly writes = new Map<string, Write[]>();
  private readonly definitions: Definitions;
  private readonly assigned: ReadonlySet<string>;
  private order = 0;

  constructor(body: readonly Stmt[]) {
    this.definitions = definitionsOf(body);
    this.assigned = assignedLocals(body);
    this.collect(body, [], []);
  }

  private collect(stmts: readonly Stmt[], loops: readonly string[], branches: Reached["branches"]): void {
    for (const stmt of stmts) {
      const order = this.order++;
      const inner = this.loopsIn(stmt, loops, order);
      // A condition of a loop is computed in each turn.
      const around = stmt.kind === "while" ? inner : loops;
      for (const expr of exprsOf(stmt))
        walkExpr(expr, (node) => {
          if (node.op !== "load") return;
          push(this.reads, node.view, { node, indices: node.indices, loops: around, branches, order });
        });
      if (stmt.kind === "store") push(this.writes, stmt.view, { stmt, indices: stmt.indices, loops, branches, order });
      for (const [side, block] of blocksOf(stmt).entries())
        this.collect(block, inner, stmt.kind === "if" ? [...branches, [order, side] as const] : branches);
    }
  }

  private loopsIn(stmt: Stmt, loops: readonly string[], order: number): readonly string[] {
    switch (stmt.kind) {
      case "for":
        return [...loops, stmt.name];
      case "while":
        return [...loops, `while ${order}`];
      case "let":
      case "assign":
      case "array":
      case "setElement":
      case "store":
      case "scatter":
      case "atomic":
      case "reduce":
      case "reduceJointly":
      case "print":
      case "if":
      case "break":
      case "continue":
      case "teamFor":
      case "teamReduce":
      case "single":
        return loops;
      default:
        return unreachable(stmt);
    }
  }

  /** Whether a store may have changed what an access of the same view finds afterwards. */
  mayMeet(write: Write, other: Reached): boolean {
    const common = write.loops.filter((loop) => other.loops.includes(loop));
    const [a, b] = [this.formsOf(write), this.formsOf(other)];
    if (this.areApart(a, b)) return false;
    if (common.length === 0) return write.order < other.order && !areExclusive(write, other);
    // An earlier turn may have stored: each turn must have places of its own, and the access comes before the store in it.
    const own = this.haveOwnPlaces(a, b, common, [...write.loops, ...other.loops]);
    return !own || (write.order < other.order && !areExclusive(write, other));
  }

  /** Whether a store happens at most once at a place, with no other of the same view there. */
  isSingle(write: Write): boolean {
    const forms = this.formsOf(write);
    if (write.loops.length > 0 && !this.haveOwnPlaces(forms, forms, write.loops, write.loops)) return false;
    const others = this.writes.get(write.stmt.view)!.filter((other) => other !== write);
    return others.every((other) => {
      if (areExclusive(write, other) && other.loops.length + write.loops.length === 0) return true;
      const forms2 = this.formsOf(other);
      return this.areApart(forms, forms2) || this.differ(forms, forms2, other.loops, write.loops);
    });
  }

  /** Whether a store happens, at the same place, whenever a read does. */
  isAlwaysWith(write: Write, read: Reached): boolean {
    const [a, b] = [write.indices, read.indices].map((indices) => indices.map((index) => printExpr(index)).join());
    const around = (outer: readonly unknown[], inner: readonly unknown[]): boolean =>
      outer.length <= inner.length && outer.every((each, n) => String(each) === String(inner[n]));
    return (
      a === b &&
      write.indices.every((index) => this.isLasting(index)) &&
      around(write.loops, read.loops) &&
      around(write.branches, read.branches)
    );
  }

  /** Different places in each turn of the same loops: a constant apart in one turn, and turns have places of their own along another axis. */
  private differ(a: Forms, b: Forms, loopsA: readonly string[], loopsB: readonly string[]): boolean {
    const same = loopsA.length === loopsB.length && loopsA.every((loop, n) => loop === loopsB[n]);
    if (!same) return false;
    const apart = a.findIndex((form, axis) => distance(form, b[axis]) !== undefined && distance(form, b[axis]) !== 0);
    if (apart < 0) return false;
    const rest = (forms: Forms): Forms => forms.filter((_, axis) => axis !== apart);
    return loopsA.length === 0 || this.haveOwnPlaces(rest(a), rest(b), loopsA, loopsA);
  }

  private formsOf({ indices }: Reached): Forms {
    return indices.map((index) => (this.isLasting(index) ? affineOf(index, this.definitions) : undefined));
  }

  private isLasting(expr: Expr): boolean {
    return !someExpr(expr, (node) => node.op === "load" || node.op === "element" || (node.op === "local" && this.assigned.has(node.name)));
  }

  /** Along some axis the places are a constant apart in all turns. */
  private areApart(a: Forms, b: Forms): boolean {
    return a.some((form, axis) => (distance(form, b[axis]) ?? 0) !== 0 && localsOf(form!).length + localsOf(b[axis]!).length === 0);
  }

  /** Both touch the same place in a turn, and another one in each turn of the loops `common`: each counter has an axis of its own. */
  private haveOwnPlaces(a: Forms, b: Forms, common: readonly string[], loops: readonly string[]): boolean {
    if (!a.every((form, axis) => distance(form, b[axis]) === 0)) return false;
    const taken = new Set<number>();
    return common.every((counter) => {
      const axis = a.findIndex((form, n) => {
        const locals = form ? localsOf(form) : [];
        return !taken.has(n) && locals.length === 1 && locals[0] === counter && coefficient(form!, `local:${counter}`) !== 0;
      });
      if (axis >= 0) taken.add(axis);
      return axis >= 0 && loops.includes(counter);
    });
  }
}

type Forms = readonly (Affine | undefined)[];

const localsOf = (form: Affine): string[] =>
  Object.keys(form.terms).flatMap((atom) => (atom.startsWith("local:") ? [atom.slice("local:".length)] : []));

/** How far two places are apart; undefined where that depends on anything. */
function distance(a: Affine | undefined, b: Affine | undefined): number | undefined {
  if (!a || !b) return undefined;
  const { constant, terms } = addAffine(a, scaleAffine(b, -1));
  return Object.keys(terms).length === 0 ? constant : undefined;
}

/** Whether two statements are on different sides of one branch. */
function areExclusive(a: Reached, b: Reached): boolean {
  return a.branches.some(([statement, side]) => b.branches.some(([other, otherSide]) => other === statement && otherSide !== side));
}

function push<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
