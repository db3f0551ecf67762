/* Goes over the tokens of one line. */

import type { Location } from "../../ir/types.js";
import { LexicalError, tokensOf, type Token } from "../lex/tokens.js";
import type { LogicalLine } from "../text/logical-lines.js";

/** A line that is not as the grammar has it. The parser catches it and goes on at the next line. */
export class SyntaxProblem extends Error {
  constructor(
    readonly at: Location,
    readonly construct: string,
    readonly why: string,
    readonly remedy?: string,
    /** Fortran, but outside of the language that is ported: the statement is kept as it is written. */
    readonly outside = false,
  ) {
    super(why);
  }
}

export class Cursor {
  readonly tokens: readonly Token[];
  n = 0;

  /** @throws SyntaxProblem */
  constructor(readonly line: LogicalLine) {
    try {
      this.tokens = tokensOf(line.text);
    } catch (error) {
      if (!(error instanceof LexicalError)) throw error;
      // Operators of a program, and `..`; a single point is a mistake.
      throw new SyntaxProblem(line.at(error.offset), error.construct, error.message, undefined, /^\../.test(error.construct));
    }
  }

  get token(): Token {
    return this.tokens[this.n];
  }

  peek(ahead = 1): Token {
    return this.tokens[Math.min(this.n + ahead, this.tokens.length - 1)];
  }

  at(token = this.token): Location {
    return this.line.at(token.from);
  }

  /** Whether the next token is this word or operator. */
  is(text: string, token = this.token): boolean {
    return token.text === text && token.kind !== "string";
  }

  /** Takes the next token if it is this. */
  take(text: string): boolean {
    const taken = this.is(text);
    if (taken) this.n++;
    return taken;
  }

  next(): Token {
    const token = this.token;
    if (token.kind !== "end") this.n++;
    return token;
  }

  expect(text: string, why = `\`${text}\` is missing`): void {
    if (!this.take(text)) throw this.problem(why);
  }

  name(what = "a name"): string {
    if (this.token.kind !== "name") throw this.problem(`${what} is missing`);
    return this.next().text;
  }

  /** Nothing may be left on the line. */
  end(): void {
    if (this.token.kind !== "end") throw this.problem("the statement should end here");
  }

  /** `a, b, c` */
  names(): string[] {
    return this.list(() => this.name());
  }

  /** One or more, between commas. */
  list<T>(item: () => T): T[] {
    const items = [item()];
    while (this.take(",")) items.push(item());
    return items;
  }

  /** The text in parentheses that begin here, as it is written, without them. */
  enclosed(): string {
    const from = this.token.to;
    const close = this.matching(this.n);
    this.n = close + 1;
    return this.line.text.slice(from, this.tokens[close].from).trim();
  }

  /** The place among the tokens of the parenthesis that closes the one at `n`. */
  matching(n: number): number {
    let depth = 0;
    for (let at = n; at < this.tokens.length; at++) {
      if (this.opens(this.tokens[at])) depth++;
      else if (this.closes(this.tokens[at]) && --depth === 0) return at;
    }
    throw this.problem("the parenthesis is not closed", this.tokens[n]);
  }

  private opens = ({ kind, text }: Token): boolean => kind === "op" && (text === "(" || text === "[" || text === "(/");
  private closes = ({ kind, text }: Token): boolean => kind === "op" && (text === ")" || text === "]" || text === "/)");

  /** All that is left, as it is written. */
  rest(): string {
    return this.line.text.slice(this.token.from).trim();
  }

  problem(why: string, token = this.token, remedy?: string): SyntaxProblem {
    const construct = token.kind === "end" ? "end of line" : this.line.text.slice(token.from, token.to);
    return new SyntaxProblem(this.at(token), construct, why, remedy);
  }

  /** Fortran that is not ported. */
  outside(construct: string, token = this.token): SyntaxProblem {
    return new SyntaxProblem(this.at(token), construct, "is not part of the supported Fortran", undefined, true);
  }
}
