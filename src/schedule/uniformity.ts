import type { Expr, Place, Stmt, Word } from "./nodes.js";
import { innerLists, ownExpressions, operands } from "./walk.js";

/** Words whose value is the same for all threads of a block, if their arguments are. */
const ALIKE: ReadonlySet<Word> = new Set<Word>(["groups", "sameBits", "ask", "fail", "pause"]);

/** Surroundings of a statement: whether only some threads of the block run it, and whether some have left the loop around it. */
interface Control {
  readonly apart: boolean;
  readonly loop: { left: boolean } | undefined;
}

/**
 * Looks for barriers that only some threads of a block may come to: under a condition, or in or after a loop, that is made of the number of
 * a thread, or of what only one thread knows. Memory of the device and the block that is read at the same place has one value for all threads:
 * what changes it stands between barriers.
 */
export class Uniformity {
  /** Variables and arrays of threads whose values may differ between threads of a block. */
  private readonly varying = new Set<string>();
  private ended = false;
  private found: Stmt | undefined;

  constructor(private readonly statements: readonly Stmt[]) {}

  /** The first such barrier. */
  barrierApart(): Stmt | undefined {
    if (!hasBarrier(this.statements)) return undefined;
    // Another pass: a variable that varies at the end of a loop does so at its beginning, too.
    for (let known = -1; known < this.varying.size;) {
      known = this.varying.size;
      this.ended = false;
      this.found = undefined;
      this.list(this.statements, { apart: false, loop: undefined });
    }
    return this.found;
  }

  private list(list: readonly Stmt[], control: Control): void {
    for (const stmt of list) {
      const apart = control.apart || this.ended || control.loop?.left === true;
      this.statement(stmt, apart === control.apart ? control : { ...control, apart });
    }
  }

  private statement(stmt: Stmt, control: Control): void {
    switch (stmt.kind) {
      case "if":
        return this.inside(stmt.then, stmt.else, this.under(control, stmt.cond));
      case "loop":
      case "while":
      case "repeat":
        return this.turns(stmt, control);
      case "block":
        return this.list(stmt.body, control);
      case "barrier":
        if (control.apart) this.found ??= stmt;
        return;
      case "break":
      case "continue":
        if (control.apart && control.loop) control.loop.left = true;
        return;
      case "return":
        this.ended ||= control.apart;
        return;
      // Any other statement gives values, if anything.
      default:
        return this.values(stmt, control);
    }
  }

  /** Values that a statement gives to variables and arrays. */
  private values(stmt: Stmt, control: Control): void {
    if (stmt.kind === "let") {
      if (stmt.value && this.varies(stmt.value)) this.varying.add(stmt.id);
    } else if (stmt.kind === "assign") this.changes(stmt.to, control, stmt.value);
    else if (stmt.kind === "increase") this.changes(stmt.to, control, stmt.by);
    else if (stmt.kind === "append") this.changes(stmt.at, control);
    else if (stmt.kind === "foldRun") this.changes(stmt.value, { ...control, apart: true });
    else if (stmt.kind === "do") this.called(stmt.call);
    else if ((stmt.kind === "pointer" || stmt.kind === "point") && (control.apart || ownExpressions(stmt).some((e) => this.varies(e))))
      this.varying.add(stmt.memory.id);
  }

  /** The surroundings of statements under a condition. */
  private under(control: Control, condition: Expr): Control {
    return control.apart || !this.varies(condition) ? control : { ...control, apart: true };
  }

  private inside(then: readonly Stmt[], otherwise: readonly Stmt[], control: Control): void {
    this.list(then, control);
    this.list(otherwise, control);
  }

  private turns(stmt: Extract<Stmt, { kind: "loop" | "while" | "repeat" }>, control: Control): void {
    if ("id" in stmt && stmt.id !== "" && (control.apart || ownExpressions(stmt).some((e) => this.varies(e)))) this.varying.add(stmt.id);
    const decides = stmt.kind === "repeat" ? stmt.again : stmt.cond;
    const apart = control.apart || (decides !== undefined && this.varies(decides));
    const loop = { left: false };
    // Those who leave early miss the barriers of later turns, which stand before the `break` as well.
    let left: boolean;
    do {
      left = loop.left;
      for (const body of innerLists(stmt)) this.list(body, { apart, loop });
    } while (left !== loop.left);
  }

  /** A place takes a value, perhaps in some threads only. */
  private changes(to: Place, { apart }: Control, value?: Expr): void {
    const differs = apart || (value !== undefined && this.varies(value));
    if ("id" in to) {
      if (differs) this.varying.add(to.id);
    } else if (to.memory.space === "thread" && (differs || this.varies(to.offset))) this.varying.add(to.memory.id);
  }

  /** Variables that a call fills in. */
  private called(call: Expr): void {
    if (call.op === "word" && call.word === "poll") for (const arg of call.args) if (arg.op === "local") this.varying.add(arg.id);
  }

  private varies(e: Expr): boolean {
    if (e.op === "agreed") return false;
    if (e.op === "local") return this.varying.has(e.id);
    if (e.op === "place") return e.of === "thread";
    if (e.op === "read" && (e.from.volatile || this.varying.has(e.from.id))) return true;
    if (e.op === "shuffle" || e.op === "exchange" || e.op === "fetch" || e.op === "next" || e.op === "apply") return true;
    if (e.op === "word" && !ALIKE.has(e.word)) return true;
    if (e.op === "binary") return this.varies(e.a) || this.varies(e.b);
    return operands(e).some((operand) => this.varies(operand));
  }
}

const hasBarrier = (list: readonly Stmt[]): boolean => list.some((stmt) => stmt.kind === "barrier" || innerLists(stmt).some(hasBarrier));
