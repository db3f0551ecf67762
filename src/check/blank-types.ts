import type ts from "typescript";
import type { TypeScript } from "./typescript.js";

/* The JavaScript of a function written in TypeScript, each character at its place: types become blanks. */

type Range = readonly [begin: number, end: number];

/** Text of a node from `begin` on without its types, as long as before. */
export function blankTypes(api: TypeScript, node: ts.Node, begin: number): string {
  const text = node.getSourceFile().text;
  const found = typesIn(api, node);
  const letters = text.slice(begin, node.end).split("");
  for (const [from, to] of found.types) for (let at = from; at < to; at++) letters[at - begin] = " ";
  for (const at of found.ends) letters[at - begin] = ";";
  return letters.join("");
}

/** Places of types, and last places of types that end a statement without a semicolon. */
function typesIn(api: TypeScript, root: ts.Node): { readonly types: readonly Range[]; readonly ends: readonly number[] } {
  const types: Range[] = [];
  const ends: number[] = [];
  const { text } = root.getSourceFile();
  const blank = (from: number, to: number): void => void types.push([from, to]);
  const annotation = (type: ts.Node | undefined): void => void (type && blank(type.pos - 1, type.end));
  const list = (nodes: ts.NodeArray<ts.Node> | undefined): void => void (nodes && blank(nodes.pos - 1, text.indexOf(">", nodes.end) + 1));
  const token = (mark: ts.Node | undefined): void => void (mark && blank(mark.end - 1, mark.end));
  const endsStatement = (node: ts.Node): boolean => {
    for (let at = node.parent; at && at !== root; at = at.parent)
      if (api.isStatement(at)) return at.end === node.end && text[at.end - 1] !== ";" && !api.isBlock(at);
    return false;
  };
  const visit = (node: ts.Node): void => {
    if (api.isInterfaceDeclaration(node) || api.isTypeAliasDeclaration(node)) return blank(node.getStart(), node.end);
    if (api.isFunctionDeclaration(node) && !node.body) return blank(node.getStart(), node.end);
    if (api.isAsExpression(node) || api.isSatisfiesExpression(node) || api.isNonNullExpression(node)) {
      blank(node.expression.end, node.end);
      if (endsStatement(node)) ends.push(node.end - 1);
      return visit(node.expression);
    }
    if (api.isTypeAssertionExpression(node)) {
      blank(node.getStart(), node.expression.getStart());
      return visit(node.expression);
    }
    if (api.isFunctionLike(node)) list(node.typeParameters);
    if (api.isCallExpression(node) || api.isNewExpression(node) || api.isExpressionWithTypeArguments(node)) list(node.typeArguments);
    if (api.isFunctionLike(node) || api.isVariableDeclaration(node) || api.isParameter(node)) annotation(node.type);
    if (api.isParameter(node)) token(node.questionToken);
    if (api.isVariableDeclaration(node)) token(node.exclamationToken);
    node.forEachChild((child) => {
      if (!api.isTypeNode(child) || api.isExpressionWithTypeArguments(child)) visit(child);
    });
  };
  visit(root);
  return { types, ends };
}
