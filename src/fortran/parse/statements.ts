/* Statements and blocks, down from the lines. A line that is wrong is reported and left out; the next is read as if nothing were. */

import type { Location } from "../../ir/types.js";
import type { Problems } from "../errors.js";
import type { Branch, CaseRange, Comment, Directed, Directive, Do, Expr, SelectCase, Stmt } from "../tree/index.js";
import type { LogicalLine } from "../text/logical-lines.js";
import { SyntaxProblem, type Cursor } from "./cursor.js";
import { governs } from "./directives.js";
import { parseExpression, parseRange } from "./expressions.js";
import { headOf, type Head } from "./head.js";
import { concurrent, simple, type ConcurrentHeading } from "./simple.js";
import { guarded, specify } from "./specification.js";

type Around = Pick<Stmt, "at" | "before" | "behind" | "label">;

/** Blocks that are kept as they are written, with their ends. */
const OUTSIDE_BLOCKS: Readonly<Record<string, string>> = {
  "select type": "end select",
  "select rank": "end select",
  critical: "end critical",
};
/** Words that begin or end units. */
const UNIT_LEVEL: readonly string[] = [
  "procedure",
  "contains",
  "module",
  "submodule",
  "program",
  "end",
  "end module",
  "end submodule",
  "end program",
  "end subroutine",
  "end function",
];
const DIVISIONS: readonly string[] = ["else", "else if", "elsewhere", "case", "end directive"];
const MOST_NESTED = 60;

export class LineReader {
  n = 0;
  /** Ends that constructs around wait for. */
  private readonly open: string[][] = [];
  /** Comments of lines that have no place for them, for the next that has. */
  carried: string[] = [];
  private known?: { n: number; head: Head };
  /** The label of the line that ended the loop before. */
  private passed?: string;

  constructor(
    private readonly lines: LogicalLine[],
    readonly problems: Problems,
  ) {}

  /** The next line; undefined after the last. */
  get head(): Head | undefined {
    if (this.n >= this.lines.length) return undefined;
    if (this.known?.n !== this.n) this.known = { n: this.n, head: headOf(this.lines[this.n]) };
    return this.known.head;
  }

  report(problem: SyntaxProblem): void {
    this.problems.add(problem.at, problem.construct, problem.why, problem.remedy);
  }

  /** Comments before a line, which this takes. */
  before(line: LogicalLine): { before?: readonly string[] } {
    const before = [...this.carried, ...line.before];
    this.carried = [];
    return before.length > 0 ? { before } : {};
  }

  around({ line, label }: Head, at: Location): Around {
    return { at, ...this.before(line), ...(line.behind !== undefined && { behind: line.behind }), ...(label !== undefined && { label }) };
  }

  /** Statements until a line with one of these keys, or one that ends a construct further out; or up to the one with a label. */
  body(ends: string[], label?: string): Stmt[] {
    const body: Stmt[] = [];
    this.open.push(ends);
    for (let head = this.head; head; head = this.head) {
      if (this.isEnd(head)) {
        if (UNIT_LEVEL.includes(head.key) || this.open.some((keys) => keys.includes(endKey(head)))) break;
        if (head.key === "end directive") body.push(this.alone(head));
        else {
          this.problems.add(head.line.at(0), head.key, "has no matching opening statement");
          this.n++;
        }
        continue;
      }
      const from = this.n;
      const found = this.statement(head);
      if (found) body.push(found);
      if (this.n === from) this.n++;
      // One line may end several loops.
      if (label !== undefined && (head.label === label || this.passed === label)) {
        this.passed = label;
        break;
      }
      this.passed = undefined;
    }
    this.open.pop();
    if (label !== undefined && this.passed === label) return body;
    const last = this.head;
    const before = last ? [...this.carried, ...last.line.before] : [];
    // `else if` and `case` keep theirs.
    if (before.length > 0 && last && last.key !== "else if" && last.key !== "case" && !UNIT_LEVEL.includes(last.key)) {
      this.carried = [];
      body.push({ kind: "comment", at: last.line.at(0), before } satisfies Comment);
    }
    return body;
  }

  private isEnd = ({ key }: Head): boolean => key.startsWith("end ") || DIVISIONS.includes(key) || UNIT_LEVEL.includes(key);

  private alone(head: Head): Directed {
    this.n++;
    const { directive } = head;
    return { kind: "directed", directive: directive!, body: [], closed: false, ...this.around(head, directive!.at) };
  }

  private statement(head: Head): Stmt | undefined {
    const c = head.cursor;
    try {
      if (head.key === "wrong") throw head.problem!;
      if (this.open.length > MOST_NESTED) throw c.problem(`blocks nest more than ${MOST_NESTED} deep`, c.tokens[0]);
      return this.block(head) ?? this.simple(head);
    } catch (error) {
      if (!(error instanceof SyntaxProblem)) throw error;
      // A directive that is kept as it is written would be a statement.
      if (error.outside && !head.line.sentinel) return this.unsupported(head, error.construct);
      this.report(error);
      return undefined;
    }
  }

  private unsupported(head: Head, construct: string): Stmt {
    this.n++;
    const around = this.around(head, head.line.at(indent(head.line.text)));
    const text = head.line.text.trim();
    return { kind: "unsupported", construct, text: head.label === undefined ? text : text.slice(head.label.length).trim(), ...around };
  }

  /** Lines as they are written, up to the end that matches. */
  private unsupportedBlock(head: Head, end: string): Stmt {
    const around = this.around(head, head.line.at(indent(head.line.text)));
    const text: string[] = [];
    const opener = end.slice("end ".length);
    let depth = 0;
    for (let next: Head | undefined = head; next; next = this.head) {
      if (UNIT_LEVEL.includes(next.key)) break;
      if (next !== head) text.push(...next.line.before);
      text.push(next.line.text.trim() + (next.line.behind && next !== head ? ` ${next.line.behind}` : ""));
      this.n++;
      if (next.key === end && --depth === 0) return { kind: "unsupported", construct: head.key, text: text.join("\n"), ...around };
      if (next.key.startsWith(opener)) depth++;
    }
    this.problems.add(around.at, head.key, "is not closed", `add \`${end}\``);
    return { kind: "unsupported", construct: head.key, text: text.join("\n"), ...around };
  }

  /** Statements that hold others. */
  private block(head: Head): Stmt | undefined {
    const { cursor: c, key, name } = head;
    const at = head.line.sentinel ? head.directive!.at : c.at(c.tokens[head.label === undefined ? 0 : 1]);
    if (Object.hasOwn(OUTSIDE_BLOCKS, key)) return this.unsupportedBlock(head, OUTSIDE_BLOCKS[key]);
    switch (key) {
      case "if then":
        return this.if(head, at);
      case "do":
      case "do while":
      case "do concurrent": {
        const label = c.token.kind === "integer" ? c.next().text : undefined;
        c.take(",");
        if (c.is("while")) {
          c.next();
          return this.loop(head, at, { kind: "do-while", ...doWhile(c) }, label);
        }
        if (key === "do while") return this.loop(head, at, { kind: "do-while", ...doWhile(c) });
        if (key === "do concurrent") return this.loop(head, at, { kind: "do-concurrent", ...concurrent(c) });
        if (c.token.kind === "end") return this.loop(head, at, { kind: "do-while" }, label);
        const variable = c.name("the loop's variable");
        c.expect("=");
        return this.loop(head, at, { kind: "do", variable, ...parseRange(c) }, label);
      }
      case "select case":
        return this.select(head, at);
      case "associate": {
        c.expect("(");
        const names = c.list(() => {
          const local = c.name();
          c.expect("=>");
          return { name: local, value: parseExpression(c) };
        });
        c.expect(")");
        c.end();
        const around = this.opened(head, at);
        const body = this.body(["end associate"]);
        return { kind: "associate", names, body, ...around, ...this.closed("end associate", head) };
      }
      case "block": {
        c.end();
        const around = this.opened(head, at);
        const { declarations, uses } = specify(this);
        const [open] = uses.filter(({ only }) => !only);
        if (open) this.problems.add(open.at, "use", "is without `only` in a block", "list the names, or move it up");
        const body = this.body(["end block"]);
        const own = { ...(declarations.length > 0 && { declarations }), ...(uses.length > 0 && { uses }) };
        return { kind: "block", ...own, body, ...around, ...this.closed("end block", head) };
      }
      case "where block":
        return this.where(head, at);
      case "forall block": {
        const parts = { kind: "do-concurrent", forall: true, ...concurrent(c, true) } as const;
        const around = this.opened(head, at);
        const body = this.body(["end forall"]);
        return { ...parts, body, ...around, ...this.closed("end forall", head) };
      }
      case "directive":
        return this.directed(head, at);
      // Any other statement stands on its line.
      default:
        if (name !== undefined) throw c.problem("only constructs can have a name", c.tokens[0]);
        return undefined;
    }
  }

  /** Takes the line that opens a block. */
  private opened(head: Head, at: Location): Around & { name?: string } {
    head.cursor.end();
    const around = this.around(head, at);
    this.n++;
    return { ...around, ...(head.name !== undefined && { name: head.name }) };
  }

  /** Takes the line that closes one, or says that it is missing. */
  private closed(end: string, opener: Head): { behindEnd?: string } {
    const head = this.head;
    if (head?.key !== end) {
      this.problems.add(opener.line.at(indent(opener.line.text)), opener.key, "is not closed", `add \`${end}\``);
      return {};
    }
    this.n++;
    const { cursor: c, line } = head;
    if (c.token.kind === "name") {
      const name = c.next().text;
      if (name !== opener.name)
        this.report(c.problem(opener.name ? `closes \`${opener.name}\`` : "closes a construct without a name", c.tokens[c.n - 1]));
    }
    if (c.token.kind !== "end") this.report(c.problem("the statement should end here"));
    return line.behind === undefined ? {} : { behindEnd: line.behind };
  }

  /** `do 10 i = 1, n` ends at its label, which may stand on any statement. */
  private loop(head: Head, at: Location, parts: LoopParts, label?: string): Stmt {
    const around = this.opened(head, at);
    const body = this.body(["end do"], label);
    const closed = label !== undefined && this.passed === label ? {} : this.closed("end do", head);
    return { ...parts, body, ...around, ...closed } as Stmt;
  }

  private if(head: Head, at: Location): Stmt {
    const ends = ["else", "else if", "end if"];
    const condition = (c: Cursor): Expr => {
      c.expect("(");
      const cond = parseExpression(c);
      c.expect(")");
      c.expect("then");
      return cond;
    };
    const first = condition(head.cursor);
    const around = this.opened(head, at);
    const branches: Branch[] = [{ cond: first, body: this.body(ends), at }];
    while (this.head?.key === "else if") {
      const { cursor: c, line } = this.head;
      const place = { at: line.at(indent(line.text)), ...this.before(line), ...(line.behind !== undefined && { behind: line.behind }) };
      this.n++;
      const cond = guarded(this, () => condition(c)) ?? first;
      branches.push({ cond, body: this.body(ends), ...place });
    }
    let otherwise: { otherwise?: Stmt[]; behindElse?: string } = {};
    if (this.head?.key === "else") {
      const { behind } = this.head.line;
      this.n++;
      otherwise = { otherwise: this.body(ends), ...(behind !== undefined && { behindElse: behind }) };
      if (this.head?.key === "else" || this.head?.key === "else if") {
        this.problems.add(this.head.line.at(0), this.head.key, "comes after `else`");
        this.n++;
        this.body(ends);
      }
    }
    return { kind: "if", branches, ...otherwise, oneLine: false, ...around, ...this.closed("end if", head) };
  }

  private where(head: Head, at: Location): Stmt {
    const ends = ["elsewhere", "end where"];
    const mask = (c: Cursor): Expr => {
      c.expect("(");
      const cond = parseExpression(c);
      c.expect(")");
      return cond;
    };
    const first = mask(head.cursor);
    const around = this.opened(head, at);
    const branches: Branch[] = [{ cond: first, body: this.body(ends), at }];
    let otherwise: Stmt[] | undefined;
    while (this.head?.key === "elsewhere") {
      const { cursor: c, line } = this.head;
      this.n++;
      if (!c.is("(")) otherwise = this.body(ends);
      else branches.push({ cond: guarded(this, () => mask(c)) ?? first, body: this.body(ends), at: line.at(indent(line.text)) });
    }
    return { kind: "where", branches, ...(otherwise && { otherwise }), oneLine: false, ...around, ...this.closed("end where", head) };
  }

  private select(head: Head, at: Location): Stmt {
    const ends = ["case", "end select"];
    const c = head.cursor;
    c.expect("(");
    const value = parseExpression(c);
    c.expect(")");
    const around = this.opened(head, at);
    const cases: SelectCase["cases"][number][] = [];
    for (const stray of this.body(ends))
      if (stray.kind !== "comment") this.problems.add(stray.at, stray.kind, "comes before the first `case`");
    while (this.head?.key === "case") {
      const { cursor, line } = this.head;
      const place = { at: line.at(indent(line.text)), ...this.before(line), ...(line.behind !== undefined && { behind: line.behind }) };
      this.n++;
      const ranges = cursor.take("default") ? undefined : guarded(this, () => caseRanges(cursor));
      cases.push({ ...(ranges && { ranges }), body: this.body(ends), ...place });
    }
    return { kind: "select", value, cases, ...around, ...this.closed("end select", head) };
  }

  private directed(head: Head, at: Location): Stmt {
    const directive = head.directive!;
    const what = governs(directive);
    const around = this.around(head, at);
    const text = directiveText(head);
    this.n++;
    const end = endOf(directive, 0);
    const isClosed = (): boolean => {
      this.bringForward(end, directive.sentinel);
      const closes = this.head !== undefined && endKey(this.head) === end;
      if (closes) this.n++;
      return closes;
    };
    const made = { kind: "directed", directive, ...around } as const;
    if (what === "nothing") return { ...made, body: [], closed: false };
    if (what === "block") {
      const body = this.body([end]);
      const closed = isClosed();
      if (!closed) this.problems.add(at, text, "is not closed", `add \`!$${directive.sentinel} end ${directive.words.join(" ")}\``);
      return { ...made, body, closed };
    }
    const next = this.head;
    const isLoop = next && (next.key.startsWith("do") || next.key === "directive");
    if (!next || this.isEnd(next) || (what === "loop" && !isLoop))
      throw new SyntaxProblem(at, text, what === "loop" ? "is not followed by a loop" : "is not followed by a statement");
    const found = this.statement(next);
    return { ...made, body: found ? [found] : [], closed: isClosed() };
  }

  /** Accepts ends of OpenACC and of OpenMP that follow each other in any order. */
  private bringForward(end: string, sentinel: Directive["sentinel"]): void {
    for (let n = this.n; n < this.lines.length; n++) {
      const head = headOf(this.lines[n]);
      if (head.key !== "end directive") return;
      if (endKey(head) === end) {
        this.lines.splice(this.n, 0, ...this.lines.splice(n, 1));
        this.known = undefined;
      }
      if (head.directive!.sentinel === sentinel) return;
    }
  }

  /** Statements on one line. */
  private simple(head: Head): Stmt {
    const { cursor: c } = head;
    const first = c.tokens[head.label === undefined ? 0 : 1];
    const made = simple(head);
    c.end();
    const around = this.around(head, c.at(first));
    this.n++;
    return { ...made, ...around, ...(head.line.cudaOnly && { cudaOnly: true }) } as Stmt;
  }
}

type LoopParts =
  | ({ kind: "do" } & Pick<Do, "variable" | "start" | "stop" | "step">)
  | { kind: "do-while"; cond?: Expr }
  | ({ kind: "do-concurrent" } & ConcurrentHeading);

const indent = (text: string): number => Math.max(0, text.search(/\S/));
const directiveText = ({ directive }: Head): string => `!$${directive!.sentinel} ${directive!.words.join(" ")}`;
/** Ends of directives name them; `atomic capture` may end with `end atomic`. */
const endOf = ({ sentinel, words }: Directive, from: number): string =>
  `end !$${sentinel} ${words[from] === "atomic" ? "atomic" : words.slice(from).join(" ")}`;
const endKey = (head: Head): string => (head.key === "end directive" ? endOf(head.directive!, 1) : head.key);

function doWhile(c: Cursor): { cond: Expr } {
  c.expect("(");
  const cond = parseExpression(c);
  c.expect(")");
  return { cond };
}

function caseRanges(c: Cursor): CaseRange[] {
  c.expect("(");
  const ranges = c.list((): CaseRange => {
    if (c.take(":")) return { upper: parseExpression(c) };
    const lower = parseExpression(c);
    if (!c.take(":")) return { lower, upper: lower };
    return c.is(",") || c.is(")") ? { lower } : { lower, upper: parseExpression(c) };
  });
  c.expect(")");
  return ranges;
}
