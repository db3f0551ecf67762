/* Statements and blocks, down from the lines. A line that is wrong is reported and left out; the next is read as if nothing were. */

import type { Location } from "../../ir/types.js";
import type { Problems } from "../errors.js";
import type {
  Allocate,
  Branch,
  CaseRange,
  Comment,
  Directed,
  Directive,
  Do,
  DoConcurrent,
  Expr,
  ReductionOp,
  SelectCase,
  Stmt,
  Variable,
} from "../tree/index.js";
import type { LogicalLine } from "../text/logical-lines.js";
import { SyntaxProblem, type Cursor } from "./cursor.js";
import { governs, launch, reductionOp } from "./directives.js";
import { args, designator, expression, range } from "./expressions.js";
import { headOf, type Head } from "./head.js";

type Around = Pick<Stmt, "at" | "before" | "behind" | "label">;

/** Statements that are kept as they are written. */
const OUTSIDE: readonly string[] = [
  "assign",
  "backspace",
  "close",
  "critical",
  "data",
  "endfile",
  "entry",
  "error stop",
  "flush",
  "forall",
  "format",
  "go to",
  "include",
  "inquire",
  "lock",
  "namelist",
  "nullify",
  "open",
  "pause",
  "read",
  "rewind",
  "sync",
  "unlock",
  "wait",
  "write",
];
/** Blocks that are kept as they are written, with their ends. */
const OUTSIDE_BLOCKS: Readonly<Record<string, string>> = {
  "select type": "end select",
  "select rank": "end select",
  "forall block": "end forall",
  critical: "end critical",
};
/** What begins or ends units. */
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

export class Lines {
  n = 0;
  /** Ends that constructs around wait for. */
  private readonly open: string[][] = [];
  /** Comments of lines that have no place for them, for the next that has. */
  carried: string[] = [];
  private known?: { n: number; head: Head };

  constructor(
    readonly lines: readonly LogicalLine[],
    readonly problems: Problems,
  ) {}

  /** The line that stands next; undefined behind the last. */
  get head(): Head | undefined {
    if (this.n >= this.lines.length) return undefined;
    if (this.known?.n !== this.n) this.known = { n: this.n, head: headOf(this.lines[this.n]) };
    return this.known.head;
  }

  report(problem: SyntaxProblem): void {
    this.problems.add(problem.at, problem.construct, problem.why, problem.remedy);
  }

  /** Comments in front of a line, which this takes. */
  before(line: LogicalLine): { before?: readonly string[] } {
    const before = [...this.carried, ...line.before];
    this.carried = [];
    return before.length > 0 ? { before } : {};
  }

  around({ line, label }: Head, at: Location): Around {
    return { at, ...this.before(line), ...(line.behind !== undefined && { behind: line.behind }), ...(label !== undefined && { label }) };
  }

  /** Statements until a line with one of these keys, or one that ends a construct further out. */
  body(ends: string[]): Stmt[] {
    const body: Stmt[] = [];
    this.open.push(ends);
    for (let head = this.head; head; head = this.head) {
      if (this.isEnd(head)) {
        if (UNIT_LEVEL.includes(head.key) || this.open.some((keys) => keys.includes(endKey(head)))) break;
        if (head.key === "end directive") body.push(this.alone(head));
        else {
          this.problems.add(head.line.at(0), head.key, "belongs to nothing that is open here");
          this.n++;
        }
        continue;
      }
      const from = this.n;
      const found = this.statement(head);
      if (found) body.push(found);
      if (this.n === from) this.n++;
    }
    this.open.pop();
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

  /** `do 10 i = 1, n`, down to the label. */
  private unsupportedLoop(head: Head, label: string): Stmt {
    const around = this.around(head, head.line.at(indent(head.line.text)));
    const text: string[] = [];
    for (let next: Head | undefined = head; next && !UNIT_LEVEL.includes(next.key); next = this.head) {
      text.push(next.line.text.trim());
      this.n++;
      if (next.label === label) return { kind: "unsupported", construct: `do ${label}`, text: text.join("\n"), ...around };
    }
    this.problems.add(around.at, `do ${label}`, "its label is not there", "end the loop by `end do`");
    return { kind: "unsupported", construct: `do ${label}`, text: text.join("\n"), ...around };
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
        if (c.token.kind === "integer") return this.unsupportedLoop(head, c.token.text);
        c.take(",");
        if (c.is("while")) {
          c.next();
          return this.loop(head, at, { kind: "do-while", ...doWhile(c) });
        }
        if (key === "do while") return this.loop(head, at, { kind: "do-while", ...doWhile(c) });
        if (key === "do concurrent") return this.loop(head, at, { kind: "do-concurrent", ...concurrent(c) });
        if (c.token.kind === "end") return this.loop(head, at, { kind: "do-while" });
        const variable = c.name("the loop's variable");
        c.expect("=");
        return this.loop(head, at, { kind: "do", variable, ...range(c) });
      }
      case "select case":
        return this.select(head, at);
      case "associate": {
        c.expect("(");
        const names = c.list(() => {
          const local = c.name();
          c.expect("=>");
          return { name: local, value: expression(c) };
        });
        c.expect(")");
        c.end();
        const around = this.opened(head, at);
        const body = this.body(["end associate"]);
        return { kind: "associate", names, body, ...around, ...this.closed("end associate", head) };
      }
      case "block": {
        c.end();
        const next = this.lines[this.n + 1];
        if (next && headOf(next).key === "declaration") return this.unsupportedBlock(head, "end block");
        const around = this.opened(head, at);
        const body = this.body(["end block"]);
        return { kind: "block", body, ...around, ...this.closed("end block", head) };
      }
      case "where block":
        return this.where(head, at);
      case "directive":
        return this.directed(head, at);
      // Any other statement stands on its line.
      default:
        if (name !== undefined) throw c.problem("a name is for `do`, `if`, `select case`", c.tokens[0]);
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

  private loop(head: Head, at: Location, parts: LoopParts): Stmt {
    const around = this.opened(head, at);
    const body = this.body(["end do"]);
    return { ...parts, body, ...around, ...this.closed("end do", head) } as Stmt;
  }

  private if(head: Head, at: Location): Stmt {
    const ends = ["else", "else if", "end if"];
    const condition = (c: Cursor): Expr => {
      c.expect("(");
      const cond = expression(c);
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
      const cond = this.guarded(() => condition(c)) ?? first;
      branches.push({ cond, body: this.body(ends), ...place });
    }
    let otherwise: { otherwise?: Stmt[]; behindElse?: string } = {};
    if (this.head?.key === "else") {
      const { behind } = this.head.line;
      this.n++;
      otherwise = { otherwise: this.body(ends), ...(behind !== undefined && { behindElse: behind }) };
      if (this.head?.key === "else" || this.head?.key === "else if") {
        this.problems.add(this.head.line.at(0), this.head.key, "stands behind `else`");
        this.n++;
        this.body(ends);
      }
    }
    return { kind: "if", branches, ...otherwise, oneLine: false, ...around, ...this.closed("end if", head) };
  }

  /** A part of a line that is read; undefined, and reported, where it is wrong. */
  private guarded<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof SyntaxProblem)) throw error;
      this.report(error);
      return undefined;
    }
  }

  private where(head: Head, at: Location): Stmt {
    const ends = ["elsewhere", "end where"];
    const mask = (c: Cursor): Expr => {
      c.expect("(");
      const cond = expression(c);
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
      else branches.push({ cond: this.guarded(() => mask(c)) ?? first, body: this.body(ends), at: line.at(indent(line.text)) });
    }
    return { kind: "where", branches, ...(otherwise && { otherwise }), oneLine: false, ...around, ...this.closed("end where", head) };
  }

  private select(head: Head, at: Location): Stmt {
    const ends = ["case", "end select"];
    const c = head.cursor;
    c.expect("(");
    const value = expression(c);
    c.expect(")");
    const around = this.opened(head, at);
    const cases: SelectCase["cases"][number][] = [];
    for (const stray of this.body(ends))
      if (stray.kind !== "comment") this.problems.add(stray.at, stray.kind, "stands in front of the first `case`");
    while (this.head?.key === "case") {
      const { cursor, line } = this.head;
      const place = { at: line.at(indent(line.text)), ...this.before(line), ...(line.behind !== undefined && { behind: line.behind }) };
      this.n++;
      const ranges = cursor.take("default") ? undefined : this.guarded(() => caseRanges(cursor));
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
      throw new SyntaxProblem(at, text, what === "loop" ? "stands in front of no loop" : "stands in front of no statement");
    const found = this.statement(next);
    return { ...made, body: found ? [found] : [], closed: isClosed() };
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
  | ({ kind: "do-concurrent" } & Heading);
type Heading = Omit<DoConcurrent, "kind" | "body" | "at" | "name">;
type Bare = Stmt extends infer S ? (S extends Stmt ? Omit<S, "at"> : never) : never;

const indent = (text: string): number => Math.max(0, text.search(/\S/));
const directiveText = ({ directive }: Head): string => `!$${directive!.sentinel} ${directive!.words.join(" ")}`;
/** Ends of directives name them; that of `atomic capture` may be `end atomic`. */
const endOf = ({ sentinel, words }: Directive, from: number): string =>
  `end !$${sentinel} ${words[from] === "atomic" ? "atomic" : words.slice(from).join(" ")}`;
const endKey = (head: Head): string => (head.key === "end directive" ? endOf(head.directive!, 1) : head.key);

function doWhile(c: Cursor): { cond: Expr } {
  c.expect("(");
  const cond = expression(c);
  c.expect(")");
  return { cond };
}

/** `(integer :: i = 1:n, j = 1:m, mask) local(a) reduce(+:s)` */
function concurrent(c: Cursor): Heading {
  c.expect("(");
  if (c.is("::", c.peek())) c.n += 2;
  const axes: DoConcurrent["axes"][number][] = [];
  let mask: Expr | undefined;
  do {
    if (c.token.kind !== "name" || !c.is("=", c.peek())) {
      mask = expression(c);
      break;
    }
    const variable = c.name();
    c.next();
    const start = expression(c);
    c.expect(":");
    const stop = expression(c);
    axes.push({ variable, start, stop, ...(c.take(":") && { step: expression(c) }) });
  } while (c.take(","));
  c.expect(")");
  if (axes.length === 0) throw c.problem("`do concurrent` has no variable", c.tokens[0]);
  const lists: Record<string, string[]> = { local: [], local_init: [], shared: [] };
  const reduce: { op: ReductionOp; names: string[] }[] = [];
  while (c.token.kind === "name") {
    const token = c.token;
    const word = c.name();
    c.expect("(");
    if (word === "reduce") {
      const op = reductionOp(c);
      c.expect(":");
      reduce.push({ op, names: c.names() });
    } else if (word === "default") c.name();
    else if (Object.hasOwn(lists, word)) lists[word].push(...c.names());
    else throw c.problem("is no locality of `do concurrent`", token, "use local, local_init, shared, reduce or default(none)");
    c.expect(")");
  }
  return { axes, ...(mask && { mask }), local: lists.local, localInit: lists.local_init, shared: lists.shared, reduce };
}

function caseRanges(c: Cursor): CaseRange[] {
  c.expect("(");
  const ranges = c.list((): CaseRange => {
    if (c.take(":")) return { upper: expression(c) };
    const lower = expression(c);
    if (!c.take(":")) return { lower, upper: lower };
    return c.is(",") || c.is(")") ? { lower } : { lower, upper: expression(c) };
  });
  c.expect(")");
  return ranges;
}

function simple(head: Head): Bare {
  const { cursor: c, key } = head;
  switch (key) {
    case "assign":
    case "points": {
      const target = designator(c);
      c.next();
      return { kind: key === "assign" ? "assign" : "pointer-assign", target, value: expression(c) };
    }
    case "call":
      return call(c);
    case "if":
    case "where": {
      c.expect("(");
      const cond = expression(c);
      c.expect(")");
      const body = oneLine(head);
      const branches = [{ cond, body: [body], at: body.at }];
      return key === "if" ? { kind: "if", branches, oneLine: true } : { kind: "where", branches, oneLine: true };
    }
    case "exit":
    case "cycle":
      return { kind: key, ...(c.token.kind === "name" && { loop: c.name() }) };
    case "return":
    case "continue":
      return { kind: key };
    case "stop":
      return { kind: "stop", ...(c.token.kind !== "end" && { value: expression(c) }) };
    case "print":
      return { kind: "print", format: format(c), items: c.take(",") ? c.list(() => expression(c)) : [] };
    case "write": {
      // To the screen alone: `write(*,*)`, `write(*,'(a)')`
      if (!c.take("(") || !c.take("*") || !c.take(",")) throw c.outside(key, c.tokens[0]);
      const written = format(c);
      if (!c.take(")")) throw c.outside(key, c.tokens[0]);
      // Compilers take a comma here.
      c.take(",");
      return { kind: "print", format: written, items: c.token.kind === "end" ? [] : c.list(() => expression(c)) };
    }
    case "allocate":
      return { kind: "allocate", ...allocation(c) };
    case "deallocate": {
      const { arrays, options } = allocation(c);
      return { kind: "deallocate", arrays: arrays.map(({ target }) => target), options };
    }
    // Any other word begins a statement that is not ported, or none.
    default:
      if (OUTSIDE.includes(key)) throw c.outside(key, c.tokens[0]);
      if (key === "declaration") throw c.problem("declarations stand in front of the first statement", c.token, "move it up");
      throw c.problem("is no statement", c.tokens[head.label === undefined ? 0 : 1]);
  }
}

function call(c: Cursor): Bare {
  const called = designator(c);
  if (called.kind === "apply") return { kind: "call", procedure: called.base, args: called.args };
  if (!c.is("<<<")) return { kind: "call", procedure: called, args: [] };
  const launched = launch(c);
  return { kind: "call", procedure: called, args: c.is("(") ? args(c) : [], launch: launched };
}

/** The statement behind the condition of a one-line `if` or `where`. */
function oneLine(outer: Head): Stmt {
  const { cursor: c, line } = outer;
  if (c.token.kind === "end") throw c.problem("a statement is missing behind the condition");
  const head = headOf(line.part(c.token.from));
  if (head.key === "wrong") throw head.problem!;
  if (head.key === "if" || head.key === "if then") throw c.problem("an `if` in one line holds no other");
  const made = simple(head);
  head.cursor.end();
  c.n = c.tokens.length - 1;
  return { ...made, at: head.line.at(0) } as Stmt;
}

function format(c: Cursor): string {
  if (c.take("*")) return "*";
  const { kind, text } = c.next();
  if (kind !== "string" && kind !== "name" && kind !== "integer") throw c.problem("a format is missing", c.tokens[c.n - 1]);
  return text;
}

function allocation(c: Cursor): Pick<Allocate, "arrays" | "options"> {
  c.expect("(");
  const arrays: { target: Variable; at: Location }[] = [];
  const options: { keyword: string; value: Expr }[] = [];
  c.list(() => {
    const at = c.at();
    if (c.token.kind === "name" && c.is("=", c.peek())) {
      const keyword = c.name();
      c.next();
      options.push({ keyword, value: expression(c) });
    } else {
      arrays.push({ target: designator(c), at });
      if (c.is("::")) throw c.outside("allocate(type :: …)");
    }
  });
  c.expect(")");
  return { arrays, options };
}
