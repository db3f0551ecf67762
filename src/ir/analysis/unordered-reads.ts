import { jsonText } from "../../base/json.js";
import type { Expr, Location, Stmt } from "../types.js";
import { blocksOf, exprsOf, someExpr, walkExpr, walkStmts } from "../walk.js";
import { affineOf, type Affine, type Definitions } from "./affine.js";

/* Reads of shared memory that need other threads to have come as far: right where threads run in step alone, as in a warp. */

/** Knowledge about the code of one thread. */
interface Thread {
  /** Locals that forms may have as atoms (undefined), or that stand for other forms. */
  readonly definitions: Definitions;
  /** Atoms that differ from thread to thread, and their least value. */
  readonly least: ReadonlyMap<string, number>;
  /** The indices along each axis, of arrays that were written with several: of the index of an element. */
  readonly axesOf: (index: Expr) => readonly Expr[];
  /** Meanings of boolean locals. */
  readonly conditions: ReadonlyMap<string, Expr>;
}

interface Access {
  readonly array: string;
  readonly index: Expr;
  readonly guards: readonly Expr[];
  readonly location: Location;
}

/**
 * Finds a thread's read of an array element that another thread may have written, after the write and with no barrier between them.
 * Undefined if there is none, or if indices are not linear forms.
 */
export function unorderedRead(stmts: readonly Stmt[], isShared: (array: string) => boolean, thread: Thread): Location | undefined {
  let found: Location | undefined;
  const written: Access[] = [];
  const visit = (list: readonly Stmt[], outer: readonly Expr[], loop: { writes: readonly Access[]; changed: ReadonlySet<string> }): void =>
    eachAccess(
      list,
      isShared,
      outer,
      (access, isWrite) => {
        if (isWrite) return void written.push(access);
        const turns = someExpr(access.index, (e) => e.op === "local" && loop.changed.has(e.name));
        const meets = (write: Access, apart: boolean): boolean => write.array === access.array && mayMeet(write, access, thread, apart);
        if (written.some((write) => meets(write, false)) || (turns && loop.writes.some((write) => meets(write, true))))
          found ??= access.location;
      },
      (stmt, guards) => {
        const writes: Access[] = [...loop.writes];
        const changed = new Set(loop.changed);
        for (const block of blocksOf(stmt)) {
          walkStmts(block, (inner) => void (inner.kind === "assign" && changed.add(inner.name)));
          const inside = (inner: readonly Stmt[], around: readonly Expr[]): void =>
            eachAccess(
              inner,
              isShared,
              around,
              (access, isWrite) => void (isWrite && writes.push(access)),
              (next, more) => blocksOf(next).forEach((each) => inside(each, more)),
            );
          inside(block, guards);
        }
        for (const block of blocksOf(stmt)) visit(block, guards, { writes, changed });
      },
    );
  visit(stmts, [], { writes: [], changed: new Set() });
  return found;
}

/** Accesses of the arrays in their order, but for those inside of loops, which `loop` gets. */
function eachAccess(
  list: readonly Stmt[],
  isShared: (array: string) => boolean,
  guards: readonly Expr[],
  visit: (access: Access, isWrite: boolean) => void,
  loop: (stmt: Stmt, guards: readonly Expr[]) => void,
): void {
  for (const stmt of list) {
    const give = (array: string, index: Expr, isWrite: boolean): void => {
      if (isShared(array)) visit({ array, index, guards, location: stmt.location }, isWrite);
    };
    for (const expr of exprsOf(stmt))
      walkExpr(expr, (e) => {
        if (e.op === "element") give(e.array, e.index, false);
        if (e.op === "load") give(e.view, e.indices.at(-1)!, false);
      });
    if (stmt.kind === "setElement") give(stmt.array, stmt.index, true);
    if (stmt.kind === "store") give(stmt.view, stmt.indices.at(-1)!, true);
    if (stmt.kind === "for" || stmt.kind === "while") loop(stmt, guards);
    else if (stmt.kind === "if") {
      eachAccess(stmt.then, isShared, [...guards, stmt.cond], visit, loop);
      eachAccess(stmt.else, isShared, guards, visit, loop);
    }
  }
}

/** Whether one thread may read what another one writes; `apart`: in another turn of a loop, in which nothing is known of what no linear form says. */
function mayMeet(write: Access, read: Access, thread: Thread, apart: boolean): boolean {
  const [axes, others] = [thread.axesOf(write.index), thread.axesOf(read.index)];
  let same = axes.length === others.length;
  let known = apart;
  const meet = axes.every((e, axis) => {
    const [a, b] = [e, others[axis]].map((form) => form && affineOf(form, thread.definitions));
    same &&= a && b ? isZero(minus(b, a)) : jsonText(e) === jsonText(others[axis]);
    known ||= a !== undefined && b !== undefined;
    return !a || !b || mayEqual(a, b, write.guards, read.guards, thread);
  });
  return meet && !same && known;
}

const isZero = ({ constant, terms }: Affine): boolean => constant === 0 && Object.keys(terms).length === 0;

/** Whether a form of one thread may be what a form of another one is. */
function mayEqual(a: Affine, b: Affine, guardsOfA: readonly Expr[], guardsOfB: readonly Expr[], thread: Thread): boolean {
  let [low, high] = [b.constant - a.constant, b.constant - a.constant];
  // Places may differ by multiples of it besides.
  let free = 0;
  for (const name of new Set([...Object.keys(a.terms), ...Object.keys(b.terms)])) {
    const [x, y] = [a.terms[name] ?? 0, b.terms[name] ?? 0];
    if (!thread.least.has(name)) {
      if (x !== y) return true;
      continue;
    }
    const [p, q] = [scaled(boundsOf(name, guardsOfA, thread), -x), scaled(boundsOf(name, guardsOfB, thread), y)];
    const [least, most] = [p[0] + q[0], p[1] + q[1]];
    if (Number.isFinite(least) && Number.isFinite(most)) [low, high] = [low + least, high + most];
    else if (x === y) free = gcd(free, Math.abs(x));
    else return true;
  }
  return free === 0 ? low <= 0 && high >= 0 : Math.floor(high / free) * free >= low;
}

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));
const scaled = ([low, high]: readonly [number, number], by: number): [number, number] =>
  by === 0 ? [0, 0] : by > 0 ? [low * by, high * by] : [high * by, low * by];

/** The interval of an atom, by the conditions that hold. */
function boundsOf(name: string, guards: readonly Expr[], { definitions, least, conditions }: Thread): [number, number] {
  let [low, high] = [least.get(name)!, Infinity];
  const look = (cond: Expr): void => {
    if (cond.op === "local" && conditions.has(cond.name)) return look(conditions.get(cond.name)!);
    if (cond.op === "logical" && cond.fn === "and") {
      look(cond.a);
      return look(cond.b);
    }
    if (cond.op !== "compare") return;
    const [a, b] = [affineOf(cond.a, definitions), affineOf(cond.b, definitions)];
    const form = a && b && minus(a, b);
    const factor = form?.terms[name];
    if (!form || !factor || Math.abs(factor) !== 1 || Object.keys(form.terms).length > 1) return;
    // factor * name + constant, compared with 0.
    const limit = -form.constant * factor;
    const fn = factor > 0 ? cond.fn : ({ lt: "gt", gt: "lt", le: "ge", ge: "le", eq: "eq", ne: "ne" } as const)[cond.fn];
    if (fn === "lt" || fn === "le" || fn === "eq") high = Math.min(high, fn === "lt" ? limit - 1 : limit);
    if (fn === "gt" || fn === "ge" || fn === "eq") low = Math.max(low, fn === "gt" ? limit + 1 : limit);
  };
  guards.forEach(look);
  return [low, high];
}

function minus(a: Affine, b: Affine): Affine {
  const terms: Record<string, number> = {};
  for (const name of new Set([...Object.keys(a.terms), ...Object.keys(b.terms)])) {
    const factor = (a.terms[name] ?? 0) - (b.terms[name] ?? 0);
    if (factor !== 0) terms[name] = factor;
  }
  return { constant: a.constant - b.constant, terms };
}
