/* Statement functions: `f(x) = 2*x` among the declarations. */

import type { Declaration, Procedure, VariableDeclaration } from "../tree/index.js";
import { parseExpression } from "./expressions.js";
import type { Head } from "./head.js";

/** The declaration of a scalar, alone; undefined if it is not one. */
function scalar(declarations: readonly Declaration[], name: string): VariableDeclaration | undefined {
  let found: VariableDeclaration | undefined;
  for (const declaration of declarations) {
    if (declaration.kind !== "variables" && declaration.kind !== "attributes") continue;
    const declared = declaration.names.find((each) => each.name === name);
    if (!declared) continue;
    if (declared.dimension || declaration.kind === "attributes" || declaration.dimension) return undefined;
    const { before: _, behind: __, ...rest } = declaration;
    found = { ...rest, names: [declared] };
  }
  return found;
}

/** The names in `f(a, b) =`; undefined of other assignments. */
function heading({ cursor: c, key }: Head): string[] | undefined {
  if (key !== "assign" || !c.is("(", c.peek())) return undefined;
  const names = [c.token.text];
  for (let n = c.n + 2; c.tokens[n]?.kind === "name"; n += 2) {
    names.push(c.tokens[n].text);
    if (c.is(")", c.tokens[n + 1]) && c.is("=", c.tokens[n + 2])) return names;
    if (!c.is(",", c.tokens[n + 1])) return undefined;
  }
  return undefined;
}

/** Whether a line defines a statement function of a unit with these declarations, rather than assigning an element. */
export function isStatementFunction(head: Head, declarations: readonly Declaration[]): boolean {
  const names = heading(head);
  return names !== undefined && names.every((name) => scalar(declarations, name) !== undefined);
}

/** The function of such a line. Throws SyntaxProblem for its right side. */
export function statementFunction(head: Head, declarations: readonly Declaration[]): Procedure {
  const { cursor: c, line } = head;
  const at = line.at(Math.max(0, line.text.search(/\S/)));
  const names = heading(head)!;
  const [name, ...dummies] = names;
  while (!c.take("=")) c.next();
  const value = parseExpression(c);
  c.end();
  return {
    kind: "procedure",
    form: "function",
    name,
    dummies,
    result: name,
    attributes: ["host"],
    prefixes: ["pure"],
    uses: [],
    implicitNone: true,
    declarations: names.map((each) => scalar(declarations, each)!),
    procedures: [],
    body: [{ kind: "assign", target: { kind: "name", name, at }, value, at }],
    at,
    end: at,
    ofStatement: true,
  };
}
