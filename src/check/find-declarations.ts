import type ts from "typescript";
import type { ProgramNames } from "./scope.js";

/* Calls that declare kernels, containers and scalar steps. */

type DeclarationKind = "kernel" | "teamKernel" | "container" | "scalarStep" | "overParticles";

export interface DeclaringCall {
  readonly kind: DeclarationKind;
  readonly node: ts.CallExpression;
  /** The called name, where errors are placed. */
  readonly callee: ts.Node;
  /** The grid or the species. */
  readonly owner?: ts.Expression;
}

/** Calls in a file, in order. */
export function findDeclarations(names: ProgramNames, file: ts.SourceFile): DeclaringCall[] {
  const { api } = names;
  const found: DeclaringCall[] = [];
  const visit = (node: ts.Node): void => {
    if (api.isCallExpression(node) && node.arguments.length >= 3) {
      const declared = declaredBy(names, node);
      if (declared) found.push(declared);
    }
    node.forEachChild(visit);
  };
  visit(file);
  return found;
}

function declaredBy(names: ProgramNames, node: ts.CallExpression): DeclaringCall | undefined {
  const { api } = names;
  const { expression } = node;
  const isMember = api.isPropertyAccessExpression(expression);
  const name = isMember ? expression.name : expression;
  const text = api.isIdentifier(name) ? name.text : "";
  if (isMember && (text === "container" || text === "scalarStep")) {
    if (names.ownName(expression) !== text) return undefined;
    const isSpecies = names.checker.getTypeAtLocation(expression.expression).getProperty("columns") !== undefined;
    return { kind: isSpecies ? "overParticles" : text, node, callee: name, owner: expression.expression };
  }
  const own = names.ownName(expression);
  return own === "kernel" || own === "teamKernel" ? { kind: own, node, callee: name } : undefined;
}
