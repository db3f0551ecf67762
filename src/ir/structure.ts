import { constant } from "./expressions.js";
import { IRError } from "../base/errors.js";
import type { Expr, Location, Stmt } from "./types.js";
import { blocksOf, isLoop, mapBlocks } from "./walk.js";

/**
 * A jump that the IR does not have: `break` or `continue` of the loop with a label, not of the innermost one, or (`break` out of `RETURN`)
 * the end of the whole list. It stands among statements, as a `break` or `continue` does, until `structure` takes it out.
 */
export interface Jump {
  readonly kind: "break" | "continue";
  /** The label of the loop, or `RETURN`. */
  readonly of: string | typeof RETURN;
  readonly location: Location;
}

/** Target of a return: it leaves all loops and the rest of the list. */
export const RETURN = Symbol("return");

type Loop = Extract<Stmt, { kind: "for" | "while" }>;
/** A loop that jumps may name. */
export type Labelled = Loop & { readonly label: string };

/** A `break` or `continue`: of the innermost loop, or of that with the label. It stands among statements, as `leave` does. */
export const jump = (kind: Jump["kind"], label: string | undefined, location: Location): Stmt =>
  label === undefined ? { kind, location } : ({ kind, of: label, location } as Stmt);
/** A return, which jumps to the end of the list. What it returns has been assigned to a local. */
export const leave = (location: Location): Jump => ({ kind: "break", of: RETURN, location });
/** The loop under a label, which jumps inside of it may name. */
export const labelled = (loop: Loop, label: string): Labelled => ({ ...loop, label });

/** The statement as a jump that the IR does not have; undefined for all else. */
export const jumpOf = (stmt: Stmt): Jump | undefined =>
  (stmt.kind === "break" || stmt.kind === "continue") && "of" in stmt ? (stmt as Jump) : undefined;
const returnsAt = (stmt: Stmt): boolean => jumpOf(stmt)?.of === RETURN;

const some = (stmt: Stmt, test: (stmt: Stmt) => boolean): boolean =>
  test(stmt) || blocksOf(stmt).some((block) => block.some((inner) => some(inner, test)));
const returns = (stmt: Stmt): boolean => some(stmt, returnsAt);
const jumps = (stmt: Stmt): boolean => some(stmt, (s) => jumpOf(s) !== undefined);

/** True if control never reaches the end of the statement, because it returns or loops until it does. */
function alwaysReturns(stmt: Stmt): boolean {
  if (returnsAt(stmt)) return true;
  if (stmt.kind === "if") return stmt.then.some(alwaysReturns) && stmt.else.some(alwaysReturns);
  const forever = stmt.kind === "while" && stmt.cond.op === "const" && stmt.cond.value === true;
  return forever && !stmt.body.some((inner) => some(inner, (s) => s.kind === "break" && !returnsAt(s)));
}

/**
 * Turns a list of statements that a front end made, with jumps among them, into the structured control flow of the IR. The list is the body
 * of a kernel, or of a function that is inlined: each function's by itself, so that its returns end it alone.
 *
 * A front end lowers its statements in their order and writes
 * - `leave(location)` for a return; a result is assigned to a local before it, which is declared before the list;
 * - plain `{ kind: "break" | "continue", location }` for a jump of the innermost loop;
 * - `{ kind: "break" | "continue", of: label, location }` for a jump of a loop further out, which is wrapped: `labelled(loop, label)`. Labels
 *   are unique among loops that are inside each other. A label of the innermost loop will do, too.
 *
 * Statements after a return, a break or a continue are dropped. Statements after an `if` that returns move into its other branch; where that
 * cannot express it (in a loop) a flag does, a local of bool that is declared at the front of the list, or of the loop's body. No jump may leave a
 * statement of a team, or be in the `update` of a `while`: that is an IRError.
 *
 * @param unique gives a name like the one wished for that is free in the kernel
 * @param location of the declaration of the return's flag; default: the first statement's
 */
export function structure(list: readonly Stmt[], unique: (wish: string) => string, location?: Location): Stmt[] {
  const structurer = new Structurer(unique);
  const stmts = structurer.list(list, []);
  return [...(structurer.returned ? [declared(structurer.returned, location ?? list[0]!.location)] : []), ...stmts];
}

/** A loop around a statement; its flags are set by jumps out of loops inside of it. */
interface Around {
  readonly label?: string;
  readonly flags: Map<Jump["kind"], string>;
}

class Structurer {
  /** The flag that is set by returns that control flow cannot say. */
  returned: string | undefined;

  constructor(private readonly unique: (wish: string) => string) {}

  list(stmts: readonly Stmt[], loops: readonly Around[]): Stmt[] {
    const out: Stmt[] = [];
    for (const [n, stmt] of stmts.entries()) {
      if (stmt.kind === "break" || stmt.kind === "continue") return [...out, ...this.jump(stmt, loops)];
      const rest = stmts.slice(n + 1);
      const mayReturn = returns(stmt);
      if (mayReturn && loops.length === 0) {
        if (stmt.kind === "if") {
          const [then, other] = [stmt.then.some(alwaysReturns), stmt.else.some(alwaysReturns)];
          if (then || other || rest.length === 0) {
            const branches = [then ? stmt.then : [...stmt.then, ...rest], other ? stmt.else : [...stmt.else, ...rest]];
            return [...out, { ...stmt, then: this.list(branches[0]!, loops), else: this.list(branches[1]!, loops) }];
          }
        }
        this.returned ??= this.unique("returned");
        out.push(this.inside(stmt, loops));
        const after = this.list(rest, loops);
        if (after.length) out.push({ kind: "if", cond: not(this.returned), then: after, else: [], location: rest[0]!.location });
        return out;
      }
      if (mayReturn) this.returned ??= this.unique("returned");
      out.push(this.inside(stmt, loops));
      if (mayReturn && isLoop(stmt)) out.push(jumpIf(this.returned!, "break", stmt.location));
      if (isLoop(stmt)) out.push(...this.onward(stmt, loops));
    }
    return out;
  }

  private jump(stmt: Extract<Stmt, { kind: "break" | "continue" }>, loops: readonly Around[]): Stmt[] {
    const { kind, location } = stmt;
    const jump = jumpOf(stmt);
    if (!jump) return [stmt];
    if (jump.of === RETURN) {
      const set = this.returned ? [raised(this.returned, location)] : [];
      return loops.length > 0 ? [...set, { kind: "break", location }] : set;
    }
    const target = loops.findLastIndex(({ label }) => label === jump.of);
    if (target < 0) throw new IRError(undefined, location, `${kind} of ${String(jump.of)}, which is not a loop around it`);
    if (target === loops.length - 1) return [{ kind, location }];
    const { flags } = loops[target]!;
    if (!flags.has(kind)) flags.set(kind, this.unique(kind === "break" ? "left" : "skipped"));
    return [raised(flags.get(kind)!, location), { kind: "break", location }];
  }

  /** The statement with what stands inside of it structured. */
  private inside(stmt: Stmt, loops: readonly Around[]): Stmt {
    if (stmt.kind !== "for" && stmt.kind !== "while") {
      const team = stmt.kind === "teamFor" || stmt.kind === "teamReduce" || stmt.kind === "single";
      if (team && jumps(stmt)) throw new IRError(undefined, stmt.location, `a jump out of a ${stmt.kind}`);
      return mapBlocks(stmt, (block) => this.list(block, loops));
    }
    if (stmt.kind === "while" && stmt.update.some(jumps)) throw new IRError(undefined, stmt.location, "a jump in the update of a loop");
    const { label, ...loop }: Loop & { label?: string } = stmt;
    const around: Around = { label, flags: new Map() };
    const body = this.list(stmt.body, [...loops, around]);
    const declarations = [...around.flags.values()].map((flag) => declared(flag, stmt.location));
    return { ...loop, body: [...declarations, ...body] };
  }

  /** Statements after a loop that continue each jump out of it to its target. */
  private onward(loop: Stmt, loops: readonly Around[]): Stmt[] {
    return loops.flatMap(({ label, flags }, at) =>
      [...flags].flatMap(([kind, flag]) => {
        const jumped = some(loop, (s) => jumpOf(s)?.of === label && s.kind === kind);
        return jumped ? [jumpIf(flag, at === loops.length - 1 ? kind : "break", loop.location)] : [];
      }),
    );
  }
}

const flagged = (name: string): Expr => ({ op: "local", type: "bool", name });
const not = (name: string): Expr => ({ op: "unary", type: "bool", fn: "not", a: flagged(name) });
const declared = (name: string, location: Location): Stmt => ({ kind: "let", name, type: "bool", init: constant("bool", false), location });
const raised = (name: string, location: Location): Stmt => ({ kind: "assign", name, value: constant("bool", true), location });
const jumpIf = (name: string, kind: Jump["kind"], location: Location): Stmt => ({
  kind: "if",
  cond: flagged(name),
  then: [{ kind, location }],
  else: [],
  location,
});
