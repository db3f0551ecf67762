import type { ImplicitRule, TypeSpec } from "../tree/index.js";
import type { Cursor } from "./cursor.js";
import { parseExpression, primary } from "./expressions.js";

const TYPES: readonly string[] = ["integer", "real", "logical", "complex", "double precision", "double complex"];

/** `implicit real*8 (a-h, o-z), integer (i-n)`, after its first word. @throws SyntaxProblem */
export function implicitRules(c: Cursor): ImplicitRule[] {
  const rules = c.list(() => rule(c));
  c.end();
  return rules;
}

function rule(c: Cursor): ImplicitRule {
  const at = c.at();
  const { from } = c.token;
  const first = c.name();
  const word = first === "double" ? `double ${c.name()}` : first.replace(/^double(?=.)/, "double ");
  if (!TYPES.includes(word)) throw c.outside("implicit", c.tokens[0]);
  const star = c.take("*");
  const kindOf = star ? primary(c) : isLetters(c) ? undefined : kind(c);
  const type: TypeSpec = {
    type: word as TypeSpec["type"],
    ...(kindOf && { kindOf }),
    text: c.line.text.slice(from, c.tokens[c.n - 1].to).toLowerCase(),
    at,
  };
  c.expect("(");
  const letters = c.list(() => range(c)).flat();
  c.expect(")");
  return { type, letters };
}

/** Whether the parentheses here are the rule's last, which hold its letters. */
function isLetters(c: Cursor): boolean {
  const behind = c.is("(") ? c.tokens[c.matching(c.n) + 1] : undefined;
  return behind?.kind === "end" || (behind !== undefined && c.is(",", behind));
}

function kind(c: Cursor): TypeSpec["kindOf"] {
  c.expect("(");
  if (c.is("kind") && c.is("=", c.peek())) c.n += 2;
  const made = parseExpression(c);
  c.expect(")");
  return made;
}

function range(c: Cursor): string[] {
  const from = c.name();
  const to = c.take("-") ? c.name() : from;
  if (from.length > 1 || to.length > 1 || to < from) throw c.outside("implicit", c.tokens[0]);
  return [..."abcdefghijklmnopqrstuvwxyz"].filter((letter) => from <= letter && letter <= to);
}
