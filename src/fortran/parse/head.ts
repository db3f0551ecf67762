/*
 * Kind of statement that a line is. Fortran reserves no word: `if`, `do` and `end` may be variables, so that an assignment is looked for first.
 */

import type { Directive } from "../tree/index.js";
import type { LogicalLine } from "../text/logical-lines.js";
import { Cursor, SyntaxProblem } from "./cursor.js";
import { directive } from "./directives.js";

export interface Head {
  readonly line: LogicalLine;
  /**
   * "assign", "points" (`p => x`), "procedure" (its first line), "directive", "end directive", "declaration", or the words that the statement
   * begins with: "if" in one line, "if then", "else if", "do", "end do", "select case", "call", …; "wrong" where the line has no tokens.
   */
  readonly key: string;
  /** Position after label, construct name and the words of `key`; at the beginning of an assignment, a declaration and a procedure. */
  readonly cursor: Cursor;
  readonly label?: string;
  readonly name?: string;
  readonly directive?: Directive;
  readonly problem?: SyntaxProblem;
}

const PARTS_OF_END: readonly string[] =
  "associate block critical do enum forall function if interface module procedure program select submodule subroutine team type where".split(
    " ",
  );
/** Words that may be written together. */
const JOINED: Readonly<Record<string, readonly string[]>> = {
  elseif: ["else", "if"],
  elsewhere: ["elsewhere"],
  selectcase: ["select", "case"],
  dowhile: ["do", "while"],
  goto: ["go", "to"],
  ...Object.fromEntries(PARTS_OF_END.map((part) => [`end${part}`, ["end", part]])),
};
/** Second words that belong to the first. */
const PAIRS: Readonly<Record<string, readonly string[]>> = {
  end: PARTS_OF_END,
  else: ["if", "where"],
  select: ["case", "type", "rank"],
  do: ["while", "concurrent"],
  go: ["to"],
  block: ["data"],
  error: ["stop"],
  abstract: ["interface"],
  module: ["procedure"],
};
const NAMED: readonly string[] = ["do", "if", "select", "selectcase", "where", "associate", "block", "forall", "critical", "dowhile"];
export const TYPE_WORDS: readonly string[] = [
  "integer",
  "real",
  "logical",
  "complex",
  "character",
  "double",
  "doubleprecision",
  "doublecomplex",
  "type",
  "class",
];
const PREFIXES: readonly string[] = ["pure", "elemental", "recursive", "impure", "module", "attributes", "launch_bounds", "non_recursive"];

/** Keys that do not come from a statement's words. */
const OWN_KEYS: readonly string[] = ["wrong", "assign", "points", "directive", "declaration"];

export function headOf(line: LogicalLine): Head {
  let c: Cursor;
  try {
    c = new Cursor(line);
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    return { line, key: "wrong", cursor: undefined as never, problem: error };
  }
  if (line.sentinel) return directiveHead(line, c);
  const label = c.token.kind === "integer" && c.peek().kind !== "end" ? c.next().text : undefined;
  const more = label === undefined ? { line } : { line, label };
  const assigned = assignment(c);
  if (assigned) return { ...more, key: assigned, cursor: c };
  if (isProcedure(c)) return { ...more, key: "procedure", cursor: c };
  let name: string | undefined;
  if (c.token.kind === "name" && c.is(":", c.peek()) && NAMED.includes(c.peek(2).text)) {
    name = c.next().text;
    c.next();
  }
  const named = name === undefined ? more : { ...more, name };
  if (c.token.kind !== "name") return { ...named, key: "wrong", cursor: c, problem: c.problem("no statement begins like this") };
  if (TYPE_WORDS.includes(c.token.text) && !isTypeDefinition(c)) return { ...named, key: "declaration", cursor: c };
  const first = c.token;
  const key = keyOf(c);
  if (OWN_KEYS.includes(key)) return { ...named, key: "wrong", cursor: c, problem: c.problem("no statement begins like this", first) };
  return { ...named, key, cursor: c };
}

function directiveHead(line: LogicalLine, c: Cursor): Head {
  try {
    const read = directive(c);
    return { line, key: read.words[0] === "end" ? "end directive" : "directive", cursor: c, directive: read };
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    return { line, key: "wrong", cursor: c, problem: error };
  }
}

/** Takes the words that say what the statement is. */
function keyOf(c: Cursor): string {
  const first = c.next().text;
  const joined = Object.hasOwn(JOINED, first) ? JOINED[first] : [first];
  let key = joined.join(" ");
  if (joined.length === 1 && c.token.kind === "name" && Object.hasOwn(PAIRS, first) && PAIRS[first].includes(c.token.text))
    key += ` ${c.next().text}`;
  if (key === "end block" && c.take("data")) key = "end block data";
  if (key === "else where") key = "elsewhere";
  if ((key === "if" || key === "where" || key === "forall") && c.is("(")) {
    const behind = c.tokens[closing(c)];
    if (key === "if" && behind && c.is("then", behind) && c.tokens.at(-2) === behind) return "if then";
    if (key !== "if" && behind?.kind === "end") return `${key} block`;
  }
  return key;
}

/** The place of the token after the parenthesis that opens here. */
function closing(c: Cursor): number {
  try {
    return c.matching(c.n) + 1;
  } catch (error) {
    if (error instanceof SyntaxProblem) return c.tokens.length;
    throw error;
  }
}

/** `name`, then parentheses and components, then `=` or `=>`. */
function assignment(c: Cursor): "assign" | "points" | undefined {
  if (c.token.kind !== "name") return undefined;
  for (let n = c.n + 1; n < c.tokens.length; n++) {
    const token = c.tokens[n];
    if (c.is("=", token)) return "assign";
    if (c.is("=>", token)) return "points";
    if (c.is("(", token)) {
      let depth = 0;
      for (; n < c.tokens.length; n++) {
        if (c.is("(", c.tokens[n])) depth++;
        else if (c.is(")", c.tokens[n]) && --depth === 0) break;
      }
    } else if (c.is("%", token)) n++;
    else return undefined;
  }
  return undefined;
}

/** Whether prefixes and types end in `subroutine name` or `function name`. */
function isProcedure(c: Cursor): boolean {
  for (let n = c.n; n < c.tokens.length; n++) {
    const { kind, text } = c.tokens[n];
    if (kind !== "name") return false;
    const following = c.tokens[n + 1];
    if ((text === "subroutine" || text === "function") && following?.kind === "name") return true;
    if (![...PREFIXES, ...TYPE_WORDS, "precision"].includes(text)) return false;
    if (c.is("*", following)) n += 2;
    else if (c.is("(", following)) {
      try {
        n = c.matching(n + 1);
      } catch {
        return false;
      }
    }
  }
  return false;
}

/** `type t`, `type :: t`, `type, extends(b) :: t`, but not `type(t) :: x`. */
const isTypeDefinition = (c: Cursor): boolean => c.is("type") && !c.is("(", c.peek());
