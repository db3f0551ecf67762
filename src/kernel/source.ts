import type * as acorn from "acorn";
import { parseExpressionAt } from "#parser";
import type { Location } from "../ir/types.js";
import { originalPosition } from "./source-map.js";
import { KernelError } from "./errors.js";

export type FunctionNode = acorn.ArrowFunctionExpression | acorn.FunctionExpression | acorn.FunctionDeclaration;

/** A function's syntax tree, and where each of its nodes stands in the author's file. */
export interface FunctionSource {
  node: FunctionNode;
  /** Its text stands in the file that declares the kernel; else places in it are only about right. */
  found: boolean;
  locate(node: acorn.Node): Location;
}

/**
 * Parses a function's own text. Lines and columns are those of the file that holds the text if it can be read (through its source map
 * if it has one), else they count from where the kernel was declared.
 */
export function parseFunction(kernel: string, fn: Function, declared: Location): FunctionSource {
  const text = Function.prototype.toString.call(fn);
  let shift = 1;
  let root: acorn.Node | undefined;
  for (const [before, after] of [
    ["(", ")"],
    ["({", "})"],
  ]) {
    try {
      root = parseExpressionAt(before + text + after, 0, { ecmaVersion: "latest", locations: true });
      shift = before.length;
      break;
    } catch {
      // a method's shorthand parses only inside an object
    }
  }
  const node = root && functionIn(root);
  if (!node) {
    const native = text.includes("[native code]");
    throw new KernelError(
      kernel,
      declared,
      native ? `${fn.name || "a function"} is built into the engine and has no source text` : "the function's text cannot be parsed",
      "pass a plain function or arrow function",
    );
  }
  if (node.async || node.generator)
    throw new KernelError(
      kernel,
      declared,
      `${fn.name || "a function"} is ${node.async ? "async" : "a generator"}`,
      "pass a plain function or arrow function",
    );
  const base = findInFile(text, declared);
  const locate = (at: acorn.Node): Location => {
    const { line, column } = at.loc!.start;
    const firstLine = line === 1;
    const place = { file: base.file, line: base.line + line - 1, column: firstLine ? base.column + column - shift : column + 1 };
    return base.found ? originalPosition(place) : place;
  };
  return { node, found: base.found, locate };
}

function functionIn(root: acorn.Node): FunctionNode | undefined {
  const node = root as acorn.Expression;
  if (node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression") return node;
  if (node.type === "ObjectExpression") {
    const property = node.properties[0];
    return property?.type === "Property" ? functionIn(property.value) : undefined;
  }
  return undefined;
}

interface Base extends Location {
  found: boolean;
}

function findInFile(text: string, declared: Location): Base {
  const file = readText(declared.file);
  if (file === undefined) return { ...declared, found: false };
  let start = 0;
  for (let line = 1; line < declared.line; line++) start = file.indexOf("\n", start) + 1;
  const at = [file.indexOf(text, start), file.indexOf(text), withTypes(text, file, start)].find((n) => n >= 0);
  if (at === undefined) return { ...declared, found: false };
  const before = file.slice(0, at).split("\n");
  return { file: declared.file, line: before.length, column: before[before.length - 1].length + 1, found: true };
}

/** The position of a text from which an engine stripped the types: it left spaces in their place. */
function withTypes(text: string, file: string, start: number): number {
  for (let at = start; at + text.length <= file.length; at++) {
    let n = 0;
    while (n < text.length && (text[n] === file[at + n] || (text[n] === " " && file[at + n] !== "\n"))) n++;
    if (n === text.length) return at;
  }
  return -1;
}

const texts = new Map<string, string | undefined>();

/** A file's text where there is a file system; undefined in browsers or when it cannot be read. */
export function readText(path: string): string | undefined {
  if (!texts.has(path)) {
    let text: string | undefined;
    try {
      const fs = (globalThis as { process?: NodeJS.Process }).process?.getBuiltinModule?.("fs");
      text = fs?.readFileSync(path, "utf8");
    } catch {
      text = undefined;
    }
    texts.set(path, text);
  }
  return texts.get(path);
}
