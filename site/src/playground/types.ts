import { tsPlugin } from "@sveltejs/acorn-typescript";
import { Parser } from "acorn";
import { ModuleError } from "./module-error.js";
import type { ProgramProblem } from "./messages.js";

/*
 * TypeScript without its types. Loaded with the first module.
 */

/** A node of a module's tree; acorn has no types for TypeScript's nodes. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value && "start" in value;

/** Constructs that are more than types: engines would need other code for them. */
const REFUSED: Readonly<Record<string, readonly [what: string, remedy: string]>> = {
  TSEnumDeclaration: ["an enum", "write an object: const Name = { first: 0, second: 1 } as const"],
  TSModuleDeclaration: ["a namespace", "write its members in the module"],
  TSParameterProperty: ["a property among the parameters of a constructor", "declare it in the class, and assign it in the constructor"],
  TSImportEqualsDeclaration: ["import =", 'write import { ... } from "isoform"'],
  TSExportAssignment: ["export =", "write export const"],
  Decorator: ["a decorator", "call the function"],
};

/** Statements and members of classes that are types alone. */
const DECLARATIONS: ReadonlySet<string> = new Set([
  "TSInterfaceDeclaration",
  "TSTypeAliasDeclaration",
  "TSDeclareFunction",
  "TSIndexSignature",
]);

/** Parts of what remains. */
const PARTS: ReadonlySet<string> = new Set(["TSTypeAnnotation", "TSTypeParameterDeclaration", "TSTypeParameterInstantiation"]);

const MODIFIERS = /\b(?:private|protected|public|readonly|override)\b/g;

/** Text after a removed declaration that would continue the statement before it. */
const CONTINUES = /^(?:\s|\/\/.*|\/\*[^]*?\*\/)*[([`+\-/*]/;
/** Text after a type at the end of a statement that could continue a value, but not the type. */
const CALLS = /^[^\S\n]*(?:\/\/.*)?\n(?:\s|\/\/.*|\/\*[^]*?\*\/)*[([`]/;

/**
 * A module in TypeScript as JavaScript: its types become blanks, so that all else stays at its line and column. Types are not checked. Throws
 * ModuleError at syntax errors, and at what is more than a type, such as enums.
 */
export function withoutTypes(text: string): string {
  const letters = text.split("");
  const blank = (from: number, to: number): void => {
    for (let n = from; n < to; n++) if (!/[\n\r\u2028\u2029]/.test(letters[n])) letters[n] = " ";
  };
  /** Blanks a declaration; the statements before and after it stay two. */
  const remove = ({ start, end }: Node): void => {
    blank(start, end);
    if (CONTINUES.test(text.slice(end))) letters[start] = ";";
  };
  /** Blanks one of several that commas part, and its comma. */
  const removeFrom = (list: readonly Node[], one: Node): void => {
    const next = list[list.indexOf(one) + 1];
    const comma = /^\s*,/.exec(text.slice(one.end));
    blank(one.start, next ? next.start : one.end + (comma?.[0].length ?? 0));
  };
  const visit = (node: Node): void => {
    if (isDeclaration(node)) return remove(node);
    if (Object.hasOwn(REFUSED, node.type)) throw refusal(text, node, ...REFUSED[node.type]);
    if (PARTS.has(node.type)) {
      const mark = /[?!]\s*$/.exec(text.slice(0, node.start));
      return blank(node.type === "TSTypeAnnotation" && mark ? mark.index : node.start, node.end);
    }
    const { expression } = node as { expression?: Node };
    switch (node.type) {
      case "TSAsExpression":
      case "TSSatisfiesExpression":
        blank(expression!.end, node.end);
        if (CALLS.test(text.slice(node.end))) letters[expression!.end] = ";";
        return visit(expression!);
      case "TSNonNullExpression":
      case "TSInstantiationExpression":
        blank(expression!.end, node.end);
        return visit(expression!);
      case "TSTypeAssertion":
        blank(node.start, expression!.start);
        return visit(expression!);
    }
    for (const list of [node.specifiers, node.params])
      for (const one of (list as Node[] | undefined) ?? [])
        if (one.importKind === "type" || one.exportKind === "type" || one.name === "this") removeFrom(list as Node[], one);
    // Without an annotation, which takes the mark with it.
    if (node.type === "Identifier" && node.optional && !node.typeAnnotation) blank(node.end - 1, node.end);
    if (node.type.startsWith("Class")) blankHeritage(node);
    if (node.type === "PropertyDefinition" || node.type === "MethodDefinition") blankModifiers(node);
    if (node.type === "ArrowFunctionExpression") keepArrow(node);
    for (const child of Object.values(node).flat()) if (isNode(child) && letters[child.start] !== " ") visit(child);
  };
  const blankHeritage = (node: Node): void => {
    if (node.abstract) blank(node.start, node.start + "abstract".length);
    const list = node.implements as Node[] | undefined;
    if (!list?.length) return;
    const word = text.slice(0, list[0].start).lastIndexOf("implements");
    blank(word, list.at(-1)!.end);
  };
  const blankModifiers = (node: Node): void => {
    const { start, end } = node.key as Node;
    let first: number | undefined;
    for (const { index, 0: word } of text.slice(node.start, start).matchAll(MODIFIERS)) {
      blank(node.start + index, node.start + index + word.length);
      first ??= node.start + index;
    }
    if (first !== undefined && /^\s*[[*]/.test(letters.slice(first, start + 1).join(""))) letters[first] = ";";
    const mark = /^\]?\s*[?!]/.exec(text.slice(end));
    if (node.optional && mark) blank(end + mark[0].length - 1, end + mark[0].length);
  };
  /** An arrow stands on the line of the bracket before it, which moves down if the type between them has several lines. */
  const keepArrow = ({ returnType }: Node): void => {
    const { start, end } = (returnType as Node | undefined) ?? { start: 0, end: 0 };
    if (!text.slice(start, end).includes("\n")) return;
    blank(start, end);
    letters[text.lastIndexOf(")", start)] = " ";
    letters[end - 1] = ")";
  };
  visit(parse(text));
  return letters.join("");
}

/** If nothing of it is left without types. */
function isDeclaration(node: Node): boolean {
  if (DECLARATIONS.has(node.type) || node.declare === true) return true;
  if (node.type === "ImportDeclaration") return node.importKind === "type";
  if (node.type.startsWith("Export")) return node.exportKind === "type" || (isNode(node.declaration) && isDeclaration(node.declaration));
  if (node.type === "PropertyDefinition" || node.type === "MethodDefinition")
    return node.abstract === true || (isNode(node.value) && node.value.type === "TSDeclareMethod");
  return false;
}

function parse(text: string): Node {
  try {
    const options = { ecmaVersion: "latest", sourceType: "module", locations: true, preserveParens: true } as const;
    return Parser.extend(tsPlugin()).parse(text, options) as unknown as Node;
  } catch (error) {
    const { loc, message } = error as SyntaxError & { loc?: { line: number; column: number } };
    if (!loc) throw error;
    throw new ModuleError([{ message: message.replace(/ \(\d+:\d+\)$/, ""), line: loc.line, column: loc.column + 1 }]);
  }
}

function refusal(text: string, node: Node, what: string, remedy: string): ModuleError {
  const before = text.slice(0, node.start).split("\n");
  const problem: ProgramProblem = {
    message: `${what} is more than a type, and cannot be left out`,
    remedy,
    line: before.length,
    column: before.at(-1)!.length + 1,
  };
  return new ModuleError([problem]);
}
