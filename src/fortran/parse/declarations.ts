/* Types, variables, attributes. */

import type { AttributeStatement, Bound, DeclaredName, Use, VariableDeclaration } from "../tree/index.js";
import { SyntaxProblem, type Cursor } from "./cursor.js";
import { parseExpression, typeSpec } from "./expressions.js";

type Unplaced<T> = Omit<T, "before" | "behind" | "cudaOnly">;

export const ATTRIBUTES: readonly string[] =
  "allocatable attributes constant contiguous device dimension external intent intrinsic managed optional parameter pinned pointer save shared target texture value volatile".split(
    " ",
  );

/** `real(rkind), dimension(5), intent(in) :: a, b(3) = 1` */
export function variables(c: Cursor): Unplaced<VariableDeclaration> {
  const type = typeSpec(c);
  const attributes: string[] = [];
  let dimension: Bound[] | undefined;
  while (c.take(",")) {
    const word = c.name("an attribute");
    if (word === "dimension") {
      dimension = bounds(c);
      attributes.push(word);
    } else attributes.push(c.is("(") ? `${word}(${c.enclosed().toLowerCase().replace(/\s+/g, "")})` : word);
  }
  const colons = c.take("::");
  if (!colons && attributes.length > 0) throw c.problem("`::` is missing");
  const names = c.list(() => declaredName(c));
  c.end();
  return { kind: "variables", type, attributes, ...(dimension && { dimension }), names, at: type.at };
}

export function declaredName(c: Cursor): DeclaredName {
  const at = c.at();
  const name = c.name();
  const dimension = c.is("(") ? bounds(c) : undefined;
  if (c.is("*")) throw c.outside("*");
  if (c.is("[")) throw c.outside("[…]");
  const points = c.take("=>");
  const init = points || c.take("=") ? parseExpression(c) : undefined;
  return { name, ...(dimension && { dimension }), ...(init && { init }), ...(points && { points }), at };
}

/** `(lb:ub, n, :, 1:, *)` */
function bounds(c: Cursor): Bound[] {
  c.expect("(");
  const found = c.list(() => bound(c));
  c.expect(")");
  return found;
}

function bound(c: Cursor): Bound {
  if (c.take("*")) return { upper: "*", assumed: false };
  if (c.take(":")) return { assumed: true };
  const first = parseExpression(c);
  if (!c.take(":")) return { upper: first, assumed: false };
  if (c.is(",") || c.is(")")) return { lower: first, assumed: true };
  return { lower: first, upper: c.take("*") ? "*" : parseExpression(c), assumed: false };
}

/** `device :: a, b`, `parameter (x = 1)`, `attributes(device) :: a`; the word is taken already. */
export function attribute(c: Cursor, word: string): Unplaced<AttributeStatement> {
  const at = c.at(c.tokens[c.n - 1]);
  const inParentheses = word === "parameter";
  let name = word;
  if ((word === "attributes" || word === "intent") && c.is("(")) {
    const inside = c.enclosed().toLowerCase().replace(/\s+/g, "");
    name = word === "attributes" ? inside : `intent(${inside})`;
  }
  if (inParentheses) c.expect("(");
  else c.take("::");
  const names = c.token.kind === "end" ? [] : c.list(() => declaredName(c));
  if (inParentheses) c.expect(")");
  c.end();
  return { kind: "attributes", attribute: name, names, at };
}

/** `use m`, `use, intrinsic :: m, only : a, b => c`; `use` is taken already. */
export function use(c: Cursor): Unplaced<Use> {
  const at = c.at(c.tokens[c.n - 1]);
  let intrinsic = false;
  if (c.take(",")) {
    const nature = c.name();
    if (nature !== "intrinsic" && nature !== "non_intrinsic") throw c.problem("`intrinsic` is expected here");
    intrinsic = nature === "intrinsic";
    c.expect("::");
  } else c.take("::");
  const module = c.name("the module's name");
  let only: { name: string; original: string }[] | undefined;
  let renames: { name: string; original: string }[] = [];
  if (c.take(",")) {
    if (c.is("only") && c.is(":", c.peek())) {
      c.n += 2;
      only = c.token.kind === "end" ? [] : c.list(() => renamed(c));
    } else renames = c.list(() => renamed(c));
  }
  c.end();
  return { module, intrinsic, ...(only && { only }), renames, at };
}

function renamed(c: Cursor): { name: string; original: string } {
  const at = c.at();
  const name = c.name();
  // `operator(+)`, `assignment(=)`
  if (c.is("(")) return { name: `${name}(${c.enclosed()})`, original: name };
  if (!c.take("=>")) return { name, original: name };
  if (c.token.kind !== "name") throw new SyntaxProblem(at, name, "the original's name is missing after `=>`");
  return { name, original: c.name() };
}
