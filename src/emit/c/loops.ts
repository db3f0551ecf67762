import { lastOf } from "../../ir/loop-stops.js";
import type { IntegerRanges } from "../../ir/analysis/integer-ranges.js";
import type { Expr, Stmt } from "../../ir/types.js";
import type { Names } from "../../base/names.js";
import type { Code } from "./code.js";
import type { Dialect } from "./dialect.js";
import type { IndexWriter } from "./indices.js";
import { at, infix, Precedence, type Text } from "./operators.js";

type Counted = Extract<Stmt, { kind: "for" }>;

/** Body whose loops are written. */
interface LoopedBody {
  readonly code: Code;
  readonly dialect: Dialect;
  readonly names: Names;
  /** Values of the integers that have been written so far. */
  readonly ranges: IntegerRanges;
  local(name: string): string;
  /** Marks the counter of a loop that is about to be written, and gives its identifier. */
  enter(loop: Counted): string;
  line(stmt: Stmt, text: string): void;
  value(e: Expr): string;
  statements(list: readonly Stmt[]): void;
}

/** Writes the loops of a body, and the `continue` statements in them. */
export class LoopWriter {
  /** Labels for `continue` in the loops being written, innermost last; undefined if `continue` itself will do. */
  private readonly continues: { label: string | undefined; used: boolean }[] = [];

  constructor(
    private readonly body: LoopedBody,
    private readonly indices: IndexWriter,
  ) {}

  /** A `continue` of the innermost loop. */
  continue(stmt: Stmt): void {
    const target = this.continues.at(-1)!;
    target.used = true;
    this.body.line(stmt, target.label ? `goto ${target.label};` : "continue;");
  }

  /** The body of a loop whose `continue` is C's own, with a line before it. */
  inner(list: readonly Stmt[], first?: string): void {
    const { code } = this.body;
    this.continues.push({ label: undefined, used: false });
    if (first !== undefined) code.indented(() => code.line(first));
    code.indented(() => this.body.statements(list));
    this.continues.pop();
  }

  /** A counted loop around what `inside` writes, after the line `before` where it can be a plain `for`. */
  counted(stmt: Counted, inside: () => void, before?: string): void {
    const { body } = this;
    const { types } = body.dialect;
    const start = this.indices.integer(stmt.start)[0];
    const stop = this.hoisted(stmt, "stop", this.stop(stmt.stop));
    const name = body.enter(stmt);
    const step = stmt.step === 1 ? `${name}++` : stmt.step === -1 ? `${name}--` : `${name} += ${stmt.step}`;
    if (before !== undefined) body.code.line(before);
    body.line(stmt, `for (${types.index} ${name} = ${start}; ${name} ${stmt.step > 0 ? "<" : ">"} ${stop}; ${step}) {`);
    inside();
    body.code.line("}");
  }

  /** The text, or a variable with its value where it is more than a number or a name. */
  private hoisted(stmt: Counted, wish: string, value: Text): string {
    const { body } = this;
    const text = at(value, Precedence.Shift);
    if (/^[-\w ]+$/.test(text)) return text;
    const name = body.names.fresh(`${body.local(stmt.name)}_${wish}`);
    body.code.line(`const ${body.dialect.types.index} ${name} = ${text};`);
    return name;
  }

  /** The stop of a loop, which may be one beyond i32. */
  private stop(stop: Expr): Text {
    const last = lastOf(stop);
    if (!last) return this.indices.integer(stop);
    const isUp = stop.op === "binary" && stop.fn === "add";
    // One beyond i32: as a sum C would compute it in an int.
    if (last.op === "const") return [String(Number(last.value) + (isUp ? 1 : -1)), Precedence.Prefix];
    return infix(isUp ? "+" : "-", Precedence.Sum, this.indices.integer(last, true), ["1", Precedence.Term]);
  }

  /** A loop with a condition, and updates that each turn ends with. */
  conditional(stmt: Extract<Stmt, { kind: "while" }>): void {
    const { body } = this;
    const { code } = body;
    const assigns = stmt.update.filter((s) => s.kind === "assign");
    const cond = body.value(stmt.cond);
    if (assigns.length === stmt.update.length) {
      const updates = assigns.map((s) => `${body.local(s.name)} = ${body.value(s.value)}`).join(", ");
      body.line(stmt, updates ? `for (; ${cond}; ${updates}) {` : `while (${cond}) {`);
      this.inner(stmt.body);
    } else {
      body.line(stmt, `while (${cond}) {`);
      const target = { label: body.names.fresh("next"), used: false };
      this.continues.push(target);
      code.indented(() => {
        code.block("", () => body.statements(stmt.body));
        if (target.used) code.line(`${target.label}:;`);
        this.continues.pop();
        body.statements(stmt.update);
      });
    }
    code.line("}");
  }
}
