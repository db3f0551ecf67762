import type ts from "typescript";
import type { Location } from "../base/location.js";
import { parseAnew, readElsewhere, type FunctionSource } from "../kernel/read/source.js";
import { blankTypes } from "./blank-types.js";
import type { TypeScript } from "./typescript.js";

/* Functions of a program that is read and not run: each has a stand-in, which the compiler takes for the function. */

export type FunctionSyntax = ts.ArrowFunction | ts.FunctionExpression | ts.FunctionDeclaration | ts.MethodDeclaration;

export const isFunctionSyntax = (api: TypeScript, node: ts.Node): node is FunctionSyntax =>
  (api.isArrowFunction(node) || api.isFunctionExpression(node) || api.isFunctionDeclaration(node) || api.isMethodDeclaration(node)) &&
  node.body !== undefined;

const syntaxes = new WeakMap<Function, FunctionSyntax>();

/** Syntax of the function that a stand-in stands for. */
export const syntaxOf = (fn: unknown): FunctionSyntax | undefined => (typeof fn === "function" ? syntaxes.get(fn) : undefined);

/** Makes a stand-in. It gives what `result` gives, and is async or a generator as the function is. */
export function standIn(api: TypeScript, node: FunctionSyntax, result: () => unknown = () => undefined): Function {
  const fn = likeFunction(api, node, result);
  const begin = startOf(api, node);
  const place = (offset: number): Location => locationAt(node.getSourceFile(), begin + offset);
  let source: FunctionSource | undefined;
  readElsewhere.set(fn, (kernel, declared) => {
    const fileText = node.getSourceFile().text.slice(begin, node.end);
    const base = { ...place(0), found: true, placeOf: place, fileText };
    return (source ??= parseAnew(kernel, blankTypes(api, node, begin), declared, base));
  });
  syntaxes.set(fn, node);
  return fn;
}

function likeFunction(api: TypeScript, node: FunctionSyntax, result: () => unknown): Function {
  const async = api.getModifiers(node)?.some(({ kind }) => kind === api.SyntaxKind.AsyncKeyword);
  if (node.asteriskToken) return async ? async function* () {} : function* () {};
  return async ? async () => undefined : () => result();
}

/** Start of a function's text, which has no `export`. */
function startOf(api: TypeScript, node: FunctionSyntax): number {
  const { SyntaxKind } = api;
  const left = [SyntaxKind.ExportKeyword, SyntaxKind.DefaultKeyword, SyntaxKind.DeclareKeyword];
  const last = api.getModifiers(node)?.findLast(({ kind }) => left.includes(kind));
  const { text } = node.getSourceFile();
  return last ? last.end + /^\s*/.exec(text.slice(last.end))![0].length : node.getStart();
}

/** A place in a file, as errors tell it. */
export function locationAt(file: ts.SourceFile, offset: number): Location {
  const { line, character } = file.getLineAndCharacterOfPosition(offset);
  return { file: file.fileName, line: line + 1, column: character + 1 };
}
