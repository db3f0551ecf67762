import { affineOf } from "../../ir/analysis/affine.js";
import { unorderedRead } from "../../ir/analysis/unordered-reads.js";
import { IRError } from "../../base/errors.js";
import { binary, cast, compare, constant, logical, not } from "../../ir/expressions.js";
import type { Expr, Location, NumberType, ReduceParam, ScalarType, Stmt, TeamResult, ViewParam } from "../../ir/types.js";
import { blocksOf, exprsOf, mapExpr, mapStmts, someExpr, walkExpr, walkExprs, walkStmts } from "../../ir/walk.js";

/*
 * Code of one thread of a block, which waits for the others at barriers, as code of a team: what stands between two barriers becomes a loop that
 * the members share. A loop with barriers in it runs once for the team, so all threads must agree on it. Where threads differ in a branch with
 * barriers in it, the statements between these are carried out by those threads alone.
 */

/** The mark of a barrier among the statements of a thread. */
export const barrier = (location: Location): Stmt => ({ kind: "single", body: [], location });

/** A block of threads. */
interface ThreadBlock {
  /** Statements of one thread. Arrays of `scratch` belong to the block; `private` ones, undefined at first, and locals belong to the thread. */
  readonly body: readonly Stmt[];
  /** How many threads it has: an expression of scalar parameters. */
  readonly threads: Expr;
  /** A local of i32 that is the thread's number, counted from 0. */
  readonly thread: string;
  /** Rows of scratch that the threads share. */
  readonly rows: ReadonlySet<string>;
  /** Splits the index of a shared element into its indices along each axis. */
  readonly axesOf?: (index: Expr) => readonly Expr[];
  /** The reductions of the launch. */
  readonly reductions: readonly ReduceParam[];
  /** Gives a name like the one wished for that is free. */
  readonly unique: (wish: string) => string;
}

/**
 * The body of a team kernel, and rows of scratch for what threads keep over barriers, which are parameters of it.
 *
 * @throws IRError if a loop with barriers depends on what threads have for themselves
 */
export function teamOfThreads(block: ThreadBlock): { params: ViewParam[]; body: Stmt[] } {
  return new Blocks(block).made();
}

/** Statements between two barriers. */
interface Segment {
  readonly stmts: Stmt[];
  /** Whether a loop of the team is around it. */
  readonly inLoop: boolean;
  readonly location: Location;
}
type Planned =
  | Stmt
  | { readonly kind: "segment"; readonly segment: Segment }
  | { readonly kind: "around"; readonly stmt: Stmt; readonly lists: Planned[][] };

/** Locals that are computed again where they are needed, and those that have a row. */
interface Plan {
  readonly again: ReadonlyMap<string, Expr>;
  readonly rows: ReadonlyMap<string, ViewParam>;
}

const isBarrier = (stmt: Stmt): boolean => stmt.kind === "single" && stmt.body.length === 0;
const waits = (stmt: Stmt): boolean => isBarrier(stmt) || blocksOf(stmt).some((list) => list.some(waits));
/** Whether the team as a whole carries it out. */
const isOfTeam = (stmt: Stmt): boolean => waits(stmt) || leaves(stmt);
const localsIn = (exprs: readonly Expr[]): string[] => {
  const found: string[] = [];
  for (const expr of exprs) walkExpr(expr, (e) => void (e.op === "local" && found.push(e.name)));
  return found;
};
const localOf = (name: string, type: ScalarType): Expr => ({ op: "local", type, name });
const PURE: readonly Expr["op"][] = [
  "const",
  "local",
  "param",
  "index",
  "extent",
  "unary",
  "binary",
  "cast",
  "compare",
  "logical",
  "select",
];

class Blocks {
  /** Locals that differ from thread to thread. */
  private readonly varying: Set<string>;
  /** Locals that loops of the team need. */
  private readonly common = new Set<string>();
  private readonly types = new Map<string, ScalarType>();
  private readonly arrays = new Map<string, Extract<Stmt, { kind: "array" }>>();
  private readonly segments: Segment[] = [];
  private readonly shared: Stmt[] = [];
  private readonly params: ViewParam[] = [];
  private run: Stmt[] = [];
  /** Mask of the threads that are in the enclosing loop. */
  private inside: Expr | undefined;

  constructor(private readonly block: ThreadBlock) {
    this.varying = varyingIn(block);
    this.findCommon();
  }

  made(): { params: ViewParam[]; body: Stmt[] } {
    const planned = this.list(this.block.body, undefined, false);
    const plan = this.classified();
    this.checkReads(plan);
    return { params: this.params, body: [...this.shared, ...this.written(planned, plan)] };
  }

  /* Which locals belong to the team. */

  private findCommon(): void {
    const need = (exprs: readonly Expr[], at: Location): void => {
      for (const expr of exprs)
        if (differs(expr, this.varying, this.block.body))
          throw new IRError(undefined, at, "threads of a block would run a loop with a barrier unequally often");
      localsIn(exprs).forEach((name) => this.common.add(name));
    };
    const look = (list: readonly Stmt[]): void => {
      for (const stmt of list) {
        if (!isOfTeam(stmt)) continue;
        if (stmt.kind === "for") need([stmt.start, stmt.stop], stmt.location);
        if (stmt.kind === "while") {
          need([stmt.cond], stmt.location);
          for (const inner of stmt.update)
            if (inner.kind === "assign") need([inner.value, localOf(inner.name, inner.value.type)], stmt.location);
        }
        if (stmt.kind === "if" && this.agrees(stmt)) need([stmt.cond], stmt.location);
        blocksOf(stmt).forEach(look);
      }
    };
    look(this.block.body);
    for (let size = -1; size !== this.common.size;) {
      size = this.common.size;
      walkStmts(this.block.body, (stmt) => {
        if (stmt.kind === "let" && stmt.init && this.common.has(stmt.name)) localsIn([stmt.init]).forEach((name) => this.common.add(name));
        if (stmt.kind === "assign" && this.common.has(stmt.name)) localsIn([stmt.value]).forEach((name) => this.common.add(name));
      });
    }
  }

  private readonly agrees = (stmt: Extract<Stmt, { kind: "if" }>): boolean => !differs(stmt.cond, this.varying, this.block.body);

  private isCommon(stmt: Stmt): boolean {
    if (stmt.kind === "let" || stmt.kind === "assign") return this.common.has(stmt.name);
    const lists = blocksOf(stmt);
    return stmt.kind === "if" && this.agrees(stmt) && lists.every((list) => list.every((inner) => this.isCommon(inner)));
  }

  /* Segments. */

  /** `mask`: the threads that take part, where not all do. */
  private list(list: readonly Stmt[], mask: Expr | undefined, inLoop: boolean): Planned[] {
    const out: Planned[] = [];
    const flush = (): void => {
      const [first] = this.run;
      if (first) {
        const segment = { stmts: this.run, inLoop, location: first.location };
        this.segments.push(segment);
        out.push({ kind: "segment", segment });
      }
      this.run = [];
    };
    for (const stmt of list) {
      if (isBarrier(stmt)) flush();
      else if (stmt.kind === "array") {
        if (stmt.space === "scratch") this.shared.push({ ...stmt, disjoint: true });
        else this.arrays.set(stmt.name, stmt);
      } else if (this.isCommon(stmt)) {
        const names = new Set(stmt.kind === "if" ? this.common : [(stmt as Extract<Stmt, { kind: "let" }>).name]);
        let read = false;
        walkExprs(this.run, (e) => void (read ||= e.op === "local" && names.has(e.name)));
        if (read) flush();
        out.push(stmt);
      } else if (isOfTeam(stmt) && stmt.kind !== "break" && stmt.kind !== "continue") out.push(...this.compound(stmt, mask, inLoop, flush));
      else if (stmt.kind === "break" || stmt.kind === "continue") {
        if (mask !== this.inside) throw new IRError(undefined, stmt.location, "some threads of a block leave a loop that has a barrier");
        flush();
        out.push(stmt);
      } else this.thread(stmt, mask);
    }
    flush();
    return out;
  }

  private compound(stmt: Stmt, mask: Expr | undefined, inLoop: boolean, flush: () => void): Planned[] {
    if (stmt.kind === "for" || stmt.kind === "while") {
      flush();
      if (stmt.kind === "while" && !stmt.update.every((inner) => this.isCommon(inner)))
        throw new IRError(undefined, stmt.location, "a loop with a barrier ends by a condition that differs between threads of a block");
      const { inside } = this;
      this.inside = mask;
      const body = this.list(stmt.body, mask, true);
      this.inside = inside;
      return [{ kind: "around", stmt, lists: [body] }];
    }
    if (stmt.kind !== "if") throw new IRError(undefined, stmt.location, `there is a barrier inside a ${stmt.kind}`);
    if (this.agrees(stmt)) {
      flush();
      return [{ kind: "around", stmt, lists: [this.list(stmt.then, mask, inLoop), this.list(stmt.else, mask, inLoop)] }];
    }
    const { location } = stmt;
    const masks = [stmt.cond, not(stmt.cond)].map((cond) => {
      const name = this.block.unique("active");
      this.types.set(name, "bool");
      this.run.push({ kind: "assign", name, value: mask ? logical("and", mask, cond) : cond, location });
      return localOf(name, "bool");
    });
    return [stmt.then, stmt.else].flatMap((list, n) => this.list(list, masks[n], inLoop));
  }

  /** A statement of each thread. */
  private thread(stmt: Stmt, mask: Expr | undefined): void {
    let own: Stmt = stmt;
    if (stmt.kind === "let") {
      this.types.set(stmt.name, stmt.type);
      if (!stmt.init) return;
      own = { kind: "assign", name: stmt.name, value: stmt.init, location: stmt.location };
    }
    if (!mask) return void this.run.push(own);
    const last = this.run.at(-1);
    if (last?.kind === "if" && last.cond === mask) last.then.push(own);
    else this.run.push({ kind: "if", cond: mask, then: [own], else: [], location: own.location });
  }

  /* Values that threads keep across barriers. */

  private classified(): Plan {
    const values = new Map<string, Expr | undefined>();
    for (const { stmts } of this.segments)
      walkStmts(stmts, (stmt) => {
        if (stmt.kind !== "assign") return;
        values.set(stmt.name, values.has(stmt.name) ? undefined : stmt.value);
        if (this.common.has(stmt.name))
          throw new IRError(undefined, stmt.location, "a loop with a barrier depends on a value that differs between threads of a block");
      });
    const again = new Map<string, Expr>();
    // Recomputes values that follow from the thread's number.
    for (let size = -1; size !== again.size;) {
      size = again.size;
      for (const [name, value] of values) {
        const known = (e: Expr): boolean => PURE.includes(e.op) && (e.op !== "local" || e.name === this.block.thread || again.has(e.name));
        if (value && this.types.has(name) && !someExpr(value, (e) => !known(e))) again.set(name, value);
      }
    }
    const kept = new Set<string>();
    const users = new Map<string, number>();
    for (const { stmts, inLoop } of this.segments) {
      for (const name of readFirst(stmts)) if (this.types.has(name) && !again.has(name)) kept.add(name);
      for (const name of arraysIn(stmts)) {
        users.set(name, (users.get(name) ?? 0) + 1);
        if (this.arrays.has(name) && (inLoop || users.get(name)! > 1)) kept.add(name);
      }
    }
    const rows = new Map<string, ViewParam>();
    for (const name of kept) {
      const array = this.arrays.get(name);
      const type = array?.type ?? this.types.get(name)!;
      const teamLength = array ? binary("mul", this.block.threads, array.length) : this.block.threads;
      const element: NumberType = type === "bool" ? "i32" : (type as NumberType);
      const row: ViewParam = { kind: "view", name: this.block.unique(`${name}_of_threads`), element, rank: 2, disjoint: true, teamLength };
      this.params.push(row);
      rows.set(name, row);
    }
    return { again, rows };
  }

  /** Threads of a warp do not run in step. */
  private checkReads({ again }: Plan): void {
    const definitions = new Map<string, Expr | undefined>([...this.common, this.block.thread].map((name) => [name, undefined]));
    const least = new Map([[`local:${this.block.thread}`, 0]]);
    const varies = new Set([this.block.thread]);
    for (const [name, value] of again) {
      if (localsIn([value]).some((local) => varies.has(local))) varies.add(name);
      const isForm = affineOf(value, definitions) !== undefined;
      definitions.set(name, isForm ? value : undefined);
      if (!isForm && varies.has(name)) least.set(`local:${name}`, leastOf(value));
    }
    const shared = new Set(this.shared.map((stmt) => (stmt as Extract<Stmt, { kind: "array" }>).name));
    const isShared = (name: string): boolean => shared.has(name) || this.block.rows.has(name);
    for (const { stmts } of this.segments) {
      walkStmts(stmts, (stmt) => void (stmt.kind === "for" && definitions.set(stmt.name, undefined)));
      const location = unorderedRead(stmts, isShared, {
        definitions,
        least,
        conditions: again,
        axesOf: this.block.axesOf ?? ((index) => [index]),
      });
      if (location) throw new IRError(undefined, location, "a thread may read a value that another thread writes, with no barrier between");
    }
  }

  private written(planned: readonly Planned[], plan: Plan): Stmt[] {
    return planned.flatMap((part): Stmt | Stmt[] => {
      if (part.kind === "segment") return this.segment(part.segment, plan);
      if (part.kind !== "around") return part;
      const [first, second] = part.lists.map((list) => this.written(list, plan));
      const { stmt } = part;
      return stmt.kind === "if" ? { ...stmt, then: first, else: second } : ({ ...stmt, body: first } as Stmt);
    });
  }

  private segment({ stmts, location }: Segment, { again, rows }: Plan): Stmt[] {
    const { block } = this;
    const member = block.unique("member");
    const names = new Map([[block.thread, member]]);
    const head: Stmt[] = [];
    const tail: Stmt[] = [];
    const place = (k: Expr): Expr[] => {
      const at =
        k.op === "const" && k.value === 0 ? localOf(member, "i32") : binary("add", binary("mul", k, block.threads), localOf(member, "i32"));
      return [{ op: "index", type: "i32", axis: 1 }, at];
    };
    const moved = (expr: Expr): Expr =>
      mapExpr(expr, (e) => {
        if (e.op === "local") return { ...e, name: names.get(e.name) ?? e.name };
        const row = e.op === "element" ? rows.get(e.array) : undefined;
        return row && e.op === "element" ? { op: "load", type: e.type, view: row.name, indices: place(e.index) } : e;
      });
    const first = readFirst(stmts);
    const changed = new Set<string>();
    walkStmts(stmts, (stmt) => void (stmt.kind === "assign" && changed.add(stmt.name)));
    const declare = (name: string): void => {
      const type = this.types.get(name);
      if (type === undefined || names.has(name)) return;
      const value = again.get(name);
      if (value) localsIn([value]).forEach(declare);
      const own = block.unique(name);
      names.set(name, own);
      const row = rows.get(name);
      const zero = constant("i32", 0);
      if (value) head.push({ kind: "let", name: own, type, init: moved(value), location });
      else if (!row || !first.has(name)) head.push({ kind: "let", name: own, type, location });
      else {
        const load: Expr = { op: "load", type: row.element as NumberType, view: row.name, indices: place(zero) };
        head.push({ kind: "let", name: own, type, init: type === "bool" ? compare("ne", load, 0) : load, location });
      }
      if (!row || !changed.has(name)) return;
      const now = localOf(own, type);
      tail.push({ kind: "store", view: row.name, indices: place(zero), value: type === "bool" ? cast("i32", now) : now, location });
    };
    walkExprs(stmts, (e) => void (e.op === "local" && declare(e.name)));
    changed.forEach((name) => void (again.has(name) || declare(name)));
    for (const name of arraysIn(stmts)) {
      const array = rows.has(name) ? undefined : this.arrays.get(name);
      if (array) head.push(array);
    }
    const body = mapStmts(stmts, {
      expr: moved,
      stmt: (stmt) => {
        if (stmt.kind === "assign") return again.has(stmt.name) ? [] : [{ ...stmt, name: names.get(stmt.name) ?? stmt.name }];
        const row = stmt.kind === "setElement" ? rows.get(stmt.array) : undefined;
        if (!row || stmt.kind !== "setElement") return [stmt];
        return [{ kind: "store", view: row.name, indices: place(stmt.index), value: stmt.value, location: stmt.location }];
      },
    });
    return this.folded({ kind: "teamFor", name: member, count: block.threads, body: [...head, ...body, ...tail], location });
  }

  /** Folds contributions of threads to reductions within the team first. */
  private folded(stmt: Extract<Stmt, { kind: "teamFor" }>): Stmt[] {
    const results = new Map<string, TeamResult>();
    const body = mapStmts(stmt.body, {
      stmt: (inner) => {
        if (inner.kind !== "reduce") return inner;
        const { op, type } = this.block.reductions.find(({ name }) => name === inner.target)!;
        if (op === "custom" || op === "joint")
          throw new IRError(undefined, inner.location, `${inner.target} is folded by an operation other than +, min and max`);
        const result = results.get(inner.target) ?? { name: this.block.unique(`${inner.target}_of_team`), type, op };
        results.set(inner.target, result);
        return { ...inner, target: result.name };
      },
    });
    if (results.size === 0) return [stmt];
    const { location } = stmt;
    const folds = [...results].map(([target, { name, type }]): Stmt => ({ kind: "reduce", target, value: localOf(name, type), location }));
    return [{ ...stmt, kind: "teamReduce", results: [...results.values()], body }, ...folds];
  }
}

/** The least value of an index of threads; -Infinity where it is not known. */
function leastOf(e: Expr): number {
  if (e.op === "const") return Number(e.value);
  if (e.op === "local" || e.op === "param") return 0;
  if (e.op !== "binary") return -Infinity;
  const [a, b] = [leastOf(e.a), leastOf(e.b)];
  if (e.fn === "add") return a + b;
  return (e.fn === "rem" || e.fn === "div") && a >= 0 ? 0 : -Infinity;
}

/** Whether an expression may differ from thread to thread. */
function differs(expr: Expr, varying: ReadonlySet<string>, body: readonly Stmt[]): boolean {
  let stored: Set<string> | undefined;
  return someExpr(expr, (e) => {
    if (e.op === "element") return true;
    if (e.op === "local") return varying.has(e.name);
    if (e.op !== "load") return false;
    if (!stored) {
      stored = new Set();
      walkStmts(body, (stmt) => void (stmt.kind === "store" && stored!.add(stmt.view)));
    }
    return stored.has(e.view);
  });
}

/** Locals that may differ from thread to thread. */
function varyingIn({ body, thread }: ThreadBlock): Set<string> {
  const varying = new Set([thread]);
  const visit = (list: readonly Stmt[], apart: boolean): void => {
    for (const stmt of list) {
      if (stmt.kind === "let" && stmt.init && (apart || differs(stmt.init, varying, body))) varying.add(stmt.name);
      if (stmt.kind === "assign" && (apart || differs(stmt.value, varying, body))) varying.add(stmt.name);
      if (stmt.kind === "for" && (apart || [stmt.start, stmt.stop].some((e) => differs(e, varying, body)))) varying.add(stmt.name);
      if (stmt.kind === "if" && waits(stmt)) {
        // Threads that do not take part have no use for what is assigned in it.
        for (const inner of blocksOf(stmt)) {
          visit(inner, apart);
          if (differs(stmt.cond, varying, body)) for (const name of leftIn(inner, body)) varying.add(name);
        }
        continue;
      }
      const within = apart || exprsOf(stmt).some((e) => differs(e, varying, body)) || leavesApart(stmt);
      for (const inner of blocksOf(stmt)) visit(inner, within);
    }
  };
  /** Whether some threads leave a loop before others. */
  const leavesApart = (loop: Stmt): boolean => {
    if (loop.kind !== "for" && loop.kind !== "while") return false;
    const look = (list: readonly Stmt[], apart: boolean): boolean =>
      list.some((stmt) => {
        if (stmt.kind === "break" || stmt.kind === "continue") return apart;
        return stmt.kind === "if" && blocksOf(stmt).some((inner) => look(inner, apart || differs(stmt.cond, varying, body)));
      });
    return look(loop.body, false);
  };
  for (let size = -1; size !== varying.size;) {
    size = varying.size;
    visit(body, false);
  }
  return varying;
}

/** Locals that statements assign and others read. */
function leftIn(list: readonly Stmt[], body: readonly Stmt[]): string[] {
  const reads = (stmts: readonly Stmt[], name: string): number => {
    let count = 0;
    walkExprs(stmts, (e) => void (e.op === "local" && e.name === name && count++));
    return count;
  };
  const assigned = new Set<string>();
  walkStmts(list, (stmt) => void (stmt.kind === "assign" && assigned.add(stmt.name)));
  return [...assigned].filter((name) => reads(body, name) > reads(list, name));
}

/** Locals that statements may read before they assign them. */
function readFirst(stmts: readonly Stmt[]): Set<string> {
  const found = new Set<string>();
  const visit = (list: readonly Stmt[], given: ReadonlySet<string>): Set<string> => {
    const assigned = new Set(given);
    let sure = true;
    for (const stmt of list) {
      for (const name of localsIn(exprsOf(stmt))) if (!assigned.has(name)) found.add(name);
      if (stmt.kind === "assign" || (stmt.kind === "let" && stmt.init)) assigned.add(stmt.name);
      if (stmt.kind === "for") visit(stmt.body, new Set([...assigned, stmt.name]));
      else if (stmt.kind === "while") visit(stmt.update, visit(stmt.body, assigned));
      else if (stmt.kind === "if") {
        const [then, other] = [visit(stmt.then, assigned), visit(stmt.else, assigned)];
        for (const name of then) if (other.has(name)) assigned.add(name);
      }
      sure &&= !leaves(stmt);
    }
    return sure ? assigned : new Set(given);
  };
  visit(stmts, new Set());
  return found;
}

/** Whether control may leave the statement other than at its end. */
const leaves = (stmt: Stmt): boolean =>
  stmt.kind === "break" || stmt.kind === "continue" || (stmt.kind === "if" && blocksOf(stmt).some((list) => list.some(leaves)));

function arraysIn(stmts: readonly Stmt[]): Set<string> {
  const found = new Set<string>();
  walkExprs(stmts, (e) => void (e.op === "element" && found.add(e.array)));
  walkStmts(stmts, (stmt) => void (stmt.kind === "setElement" && found.add(stmt.array)));
  return found;
}
