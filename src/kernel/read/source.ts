import type * as acorn from "acorn";
import { parseExpressionAt } from "#parser";
import { authorsTextBefore, findInFile, originalPosition } from "#source-map";
import { isOverflow, REMEDY, tooDeep } from "./depth.js";
import type { Location } from "../../ir/types.js";
import { KernelError } from "../../base/errors.js";
import { PLAIN_FUNCTION, whyNotPlain } from "./plain-function.js";

export type FunctionNode = acorn.ArrowFunctionExpression | acorn.FunctionExpression | acorn.FunctionDeclaration;

/** A function's syntax tree, and where each of its nodes stands in the author's file. */
export interface FunctionSource {
  node: FunctionNode;
  /** Its text stands in the file that declares the kernel; else places in it are only about right. */
  found: boolean;
  locate(node: acorn.Node): Location;
  /** A minifier wrote it, which leaves no spaces; the author's file may say that only these are gone. */
  minified: boolean;
  /** Text of the author's file before a node; undefined if no source map tells. */
  textBefore(at: acorn.Node): string | undefined;
}

/** Functions that tools have read in a file without running it: they stand for the function there. */
export const readElsewhere = new WeakMap<Function, (kernel: string, declared: Location) => FunctionSource>();

/** Parsed functions, by the place of their declaration; kernels share helpers, and each of their lists asks for them. */
const parsed = new WeakMap<Function, Map<string, FunctionSource>>();
/** By place and text: each call of a function that declares kernels makes their functions anew. */
const parsedTexts = new Map<string, FunctionSource>();
/** More texts than a program writes out; one that makes texts as it runs does not fill the memory. */
const MOST_TEXTS = 4096;

/**
 * Parses a function's own text. Lines and columns refer to the file that holds the text if it can be read (through its source map
 * if it has one), else they count from where the kernel was declared.
 */
export function parseFunction(kernel: string, fn: Function, declared: Location): FunctionSource {
  const read = readElsewhere.get(fn);
  if (read) return read(kernel, declared);
  let known = parsed.get(fn);
  if (!known) parsed.set(fn, (known = new Map()));
  const place = `${declared.file}:${declared.line}:${declared.column}`;
  let source = known.get(place);
  if (!source) known.set(place, (source = parseText(kernel, fn, declared, place)));
  return source;
}

function parseText(kernel: string, fn: Function, declared: Location, place: string): FunctionSource {
  const problem = whyNotPlain(fn);
  if (problem) throw new KernelError(kernel, declared, problem, PLAIN_FUNCTION);
  const text = Function.prototype.toString.call(fn);
  const key = `${place} ${text}`;
  let source = parsedTexts.get(key);
  if (!source) {
    source = parseAnew(kernel, text, declared);
    if (parsedTexts.size === MOST_TEXTS) parsedTexts.clear();
    parsedTexts.set(key, source);
  }
  return source;
}

/** @param base where the text stands */
export function parseAnew(kernel: string, text: string, declared: Location, base = findInFile(text, declared)): FunctionSource {
  let shift = 1;
  let root: acorn.Node | undefined;
  let deep = false;
  for (const [before, after] of [
    ["(", ")"],
    ["({", "})"],
  ]) {
    try {
      root = parseExpressionAt(before + text + after, 0, { ecmaVersion: "latest", locations: true });
      shift = before.length;
      break;
    } catch (error) {
      // A method's shorthand parses only inside an object; a parser goes down with what nests.
      deep ||= isOverflow(error);
    }
  }
  const node = root && functionIn(root);
  if (!node) {
    if (deep) throw new KernelError(kernel, declared, "its text nests deeper than the parser can follow", REMEDY);
    throw new KernelError(kernel, declared, "the function's text cannot be parsed", PLAIN_FUNCTION);
  }
  const place = (at: acorn.Node): Location => {
    if (base.placeOf) return base.placeOf(at.start - shift);
    const { line, column } = at.loc!.start;
    return { file: base.file, line: base.line + line - 1, column: line === 1 ? base.column + column - shift : column + 1 };
  };
  const locate = (at: acorn.Node): Location => (base.found ? originalPosition(place(at)) : place(at));
  const far = tooDeep(node);
  if (far) throw new KernelError(kernel, locate(far.node), far.problem, REMEDY);
  const minified = !hasSpaces(text) && !(base.fileText !== undefined && hasSpaces(base.fileText));
  return { node, found: base.found, locate, minified, textBefore: (at) => (base.found ? authorsTextBefore(place(at)) : undefined) };
}

/** Minifiers leave no spaces after these. */
const hasSpaces = (text: string): boolean => /[;,{(=>]\s/.test(text);

function functionIn(root: acorn.Node): FunctionNode | undefined {
  const node = root as acorn.Expression;
  if (node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression") return node;
  if (node.type === "ObjectExpression") {
    const property = node.properties[0];
    return property?.type === "Property" ? functionIn(property.value) : undefined;
  }
  return undefined;
}
