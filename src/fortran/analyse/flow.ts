/*
 * Assignments of statements, and reads of values from before them: a variable that an iteration reads before it writes it is carried from
 * one iteration to the next.
 */

import type { ActualArgument, Expr, ComponentRef, Procedure, Stmt, Unsupported } from "../tree/index.js";
import { assignedUnread, bodiesOf, eachNode, nameLeft, rootOf, namesUnread } from "./visit.js";
import { variableName } from "./walk.js";

interface Flow {
  /** Variables that some path reads before it assigns them. */
  readonly readFirst: ReadonlySet<string>;
  /** Variables, scalars and arrays, that some path assigns. */
  readonly assigned: ReadonlySet<string>;
  /** Names among them that every path assigns. */
  readonly always: ReadonlySet<string>;
  /** Components, `p_x`, that some path reads before it assigns them; and `p%` of variables that are read as a whole. */
  readonly partsRead: ReadonlySet<string>;
}

/** Whether some path reads a component before it assigns it. */
export const readsPart = ({ partsRead }: Flow, name: string): boolean =>
  [...partsRead].some((part) => part === name || (part.endsWith("%") && name.startsWith(`${part.slice(0, -1)}_`)));

/** The procedures that some code may call, by the names that it sees them by; each with those that it may call itself. */
export interface Procedures {
  get(name: string):
    | {
        readonly procedure: Procedure;
        readonly procedures: Procedures;
        /** Name here of a variable that the procedure shares with others; undefined for its own variables and dummies. */
        readonly seen: (name: string) => string | undefined;
      }
    | undefined;
}

/**
 * An array counts as assigned with its first element.
 *
 * @param procedures the procedures that may be called
 * @param options with `trustsCalls`, a call assigns the arguments that it assigns on some paths
 */
export function controlFlow(body: readonly Stmt[], procedures: Procedures, { trustsCalls = false } = {}): Flow {
  return new Walk(procedures, new Map(), trustsCalls).flow(body);
}

class Walk implements Flow {
  readonly readFirst = new Set<string>();
  readonly assigned = new Set<string>();
  readonly partsRead = new Set<string>();
  always: ReadonlySet<string> = new Set();
  /** Variables that are assigned where a statement returns. */
  private readonly returns: ReadonlySet<string>[] = [];

  constructor(
    private readonly procedures: Procedures,
    /** Undefined while it is looked at: of a recursion. */
    private readonly known: Map<Procedure, Flow | undefined>,
    private readonly trustsCalls: boolean,
  ) {}

  flow(body: readonly Stmt[]): Flow {
    const end = this.body(body, new Set());
    this.always = common([end, ...this.returns].map((names) => names && new Set(names))) ?? new Set();
    return this;
  }

  /** Names that are assigned after the statements; undefined if control does not get there. */
  private body(body: readonly Stmt[], from: ReadonlySet<string>): Set<string> | undefined {
    let done: Set<string> | undefined = new Set(from);
    for (const s of body) {
      done = this.statement(s, done);
      if (!done) return undefined;
    }
    return done;
  }

  private statement(s: Stmt, done: Set<string>): Set<string> | undefined {
    if (nameLeft(s) === undefined) return this.through(s, done);
    // An `exit` may leave it at any place.
    return common([this.through(s, new Set(done)), done]);
  }

  private through(s: Stmt, done: Set<string>): Set<string> | undefined {
    const reads = (...trees: unknown[]): void => trees.forEach((tree) => this.reads(tree, done));
    switch (s.kind) {
      case "assign":
      case "pointer-assign":
        reads(s.value, s.target.kind === "apply" ? s.target.args : []);
        this.assign(rootOf(s.target), done);
        // No name has two dots.
        done.add(`..${variableName(s.target)}`);
        return done;
      case "call":
        reads(s.launch);
        this.call(s.procedure.kind === "name" ? s.procedure.name : undefined, s.args, done);
        return done;
      case "if":
      case "where": {
        const ends = s.branches.map((branch) => {
          reads(branch.cond);
          return this.body(branch.body, done);
        });
        return common([...ends, s.otherwise ? this.body(s.otherwise, done) : done]);
      }
      case "select":
        reads(s.value);
        return common([...s.cases.map((part) => this.body(part.body, done)), ...(s.cases.some(({ ranges }) => !ranges) ? [] : [done])]);
      // A loop is taken to run once at least.
      case "do":
        reads(s.start, s.stop, s.step);
        this.assign(s.variable, done);
        return this.body(s.body, done) ?? done;
      case "do-concurrent":
        for (const { variable, start, stop, step } of s.axes) {
          reads(start, stop, step);
          this.assign(variable, done);
        }
        reads(s.mask);
        return this.body(s.body, done) ?? done;
      case "do-while":
        reads(s.cond);
        return this.body(s.body, done) ?? done;
      case "return":
        this.returns.push(new Set(done));
        return undefined;
      case "stop":
      case "exit":
      case "cycle":
        return undefined;
      case "associate":
        reads(s.names.map(({ value }) => value));
        return this.body(s.body, done);
      case "unsupported":
        return this.unread(s, done);
      // Any other statement reads what it names.
      default:
        if (bodiesOf(s).length === 0) reads(s);
        else for (const part of bodiesOf(s)) return this.body(part, done);
        return done;
    }
  }

  /** A statement that is not read: it may read whatever it names. */
  private unread(s: Unsupported, done: Set<string>): Set<string> {
    const assigned = assignedUnread(s);
    for (const name of namesUnread(s).slice(assigned === undefined ? 0 : 1)) if (!done.has(name)) this.readFirst.add(name);
    this.assign(assigned, done);
    return done;
  }

  private assign(name: string | undefined, done: Set<string>): void {
    if (name === undefined) return;
    this.assigned.add(name);
    done.add(name);
  }

  private reads(tree: unknown, done: ReadonlySet<string>): void {
    const read = (name: string): void => void (done.has(name) || this.readFirst.add(name));
    eachNode(tree, (node) => {
      if (node.kind === "part") {
        const part = node as ComponentRef;
        if (!done.has(`..${variableName(part)}`)) this.partsRead.add(variableName(part));
        const root = rootOf(part);
        if (root !== undefined) read(root);
        for (let at: Expr = part; at.kind === "part" || at.kind === "apply"; at = at.base)
          if (at.kind === "apply") this.reads(at.args, done);
        return false;
      }
      const { name } = node as Extract<Expr, { kind: "name" }>;
      if (node.kind === "name") {
        this.shared(name, done);
        read(name);
        if (!done.has(`..${name}`)) this.partsRead.add(`${name}%`);
      }
      return undefined;
    });
  }

  private call(name: string | undefined, args: readonly ActualArgument[], done: Set<string>): void {
    const found = name === undefined ? undefined : this.procedures.get(name);
    const called = found?.procedure;
    const inner = found && this.of(found);
    const written: string[] = [];
    for (const [n, arg] of args.entries()) {
      const dummy = arg.kind === "value" ? (arg.keyword ?? called?.dummies[n]) : undefined;
      const root = arg.kind === "value" ? rootOf(arg.value) : undefined;
      // A procedure that is not there may write whatever it gets.
      const writes = root !== undefined && (!inner || !dummy || inner.assigned.has(dummy));
      if (!writes || (inner && dummy && inner.readFirst.has(dummy))) this.reads(arg, done);
      else if (arg.kind === "value" && arg.value.kind === "apply") this.reads(arg.value.args, done);
      if (inner && dummy && root !== undefined && arg.kind === "value" && arg.value.kind !== "apply")
        for (const part of inner.partsRead)
          if (part === `${dummy}%` || part.startsWith(`${dummy}_`)) {
            const name = variableName(arg.value as ComponentRef) + part.slice(dummy.length);
            if (!done.has(`..${name}`)) this.partsRead.add(name);
          }
      if (!writes) continue;
      const surely = this.trustsCalls || !inner || !dummy || inner.always.has(dummy) || isOut(called!, dummy);
      if (surely) written.push(root);
      else this.assigned.add(root);
    }
    for (const root of written) this.assign(root, done);
    if (name !== undefined) this.shared(name, done);
  }

  /** Adds what a procedure, if it is one, reads and assigns of variables that it shares with others. */
  private shared(name: string, done: ReadonlySet<string>): void {
    const found = this.procedures.get(name);
    const inner = found && this.of(found);
    if (!inner) return;
    const seen = (names: ReadonlySet<string>): string[] => [...names].flatMap((each) => found.seen(each) ?? []);
    for (const each of seen(inner.readFirst)) if (!done.has(each)) this.readFirst.add(each);
    for (const each of seen(inner.assigned)) this.assigned.add(each);
  }

  private of({ procedure, procedures }: NonNullable<ReturnType<Procedures["get"]>>): Flow | undefined {
    if (!this.known.has(procedure)) {
      this.known.set(procedure, undefined);
      this.known.set(procedure, new Walk(procedures, this.known, this.trustsCalls).flow(procedure.body));
    }
    return this.known.get(procedure);
  }
}

/** Whether a dummy argument is undefined if its procedure does not assign it. */
const isOut = ({ declarations }: Procedure, dummy: string): boolean =>
  declarations.some(
    (each) => each.kind === "variables" && each.attributes.includes("intent(out)") && each.names.some(({ name }) => name === dummy),
  );

/** Names assigned on all paths that reach their ends. */
function common(ends: readonly (Set<string> | undefined)[]): Set<string> | undefined {
  const [first, ...rest] = ends.filter((end) => end !== undefined);
  return first && new Set([...first].filter((name) => rest.every((end) => end.has(name))));
}
