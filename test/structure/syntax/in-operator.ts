import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import ts from "typescript";
import { parse } from "./parse.js";
import { sources } from "../sources.js";

/*
 * Tables are asked for names of users by Object.hasOwn, or by a Map: `name in table` and `table[name]` find what every object inherits,
 * such as `constructor`. So `in` has a constant on its left, and a table of constants is indexed where the file asks Object.hasOwn, or the key is no text of users.
 */

/** Tables whose keys are words of JavaScript's grammar, of a format, or of our own. */
const KEYS_OF_OUR_OWN = new Set(["ARITHMETIC", "SYNTAX", "REMEDIES", "FLIPPED", "ESCAPES", "ESCAPED", "UNITS", "TYPES", "COMPARE", "BITS"]);

function loose(name: string, text: string): string[] {
  const source = parse(name, text);
  const tables = new Set<string>();
  const found: string[] = [];
  const at = (node: ts.Node): string => `${name}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}: ${node.getText()}`;
  const declared = (node: ts.Node): void => {
    if (
      ts.isVariableDeclaration(node) &&
      node.type &&
      /\bRecord<string,/.test(node.type.getText()) &&
      node.initializer &&
      ts.isObjectLiteralExpression(node.initializer)
    )
      if (node.initializer.properties.length > 0) tables.add(node.name.getText());
    ts.forEachChild(node, declared);
  };
  declared(source);
  const visit = (node: ts.Node): void => {
    if (
      ts.isBinaryExpression(node) &&
      node.operatorToken.kind === ts.SyntaxKind.InKeyword &&
      !ts.isStringLiteral(node.left) &&
      !ts.isPrivateIdentifier(node.left)
    )
      found.push(at(node));
    if (ts.isElementAccessExpression(node) && !ts.isStringLiteral(node.argumentExpression)) {
      const table = node.expression.getText();
      const stored = ts.isBinaryExpression(node.parent) && node.parent.left === node;
      if (!stored && tables.has(table) && !KEYS_OF_OUR_OWN.has(table) && !text.includes(`Object.hasOwn(${table}, `)) found.push(at(node));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

describe("look-ups by names of users", () => {
  it("find nothing that objects inherit", () => {
    assert.deepEqual(
      ["src", "apps"].flatMap(sources).flatMap((file) => loose(file, readFileSync(file, "utf8"))),
      [],
      "use Object.hasOwn, own (src/base/own.ts) or a Map",
    );
  });
  it("are found where they do", () => {
    assert.deepEqual(loose("a.ts", "if (name in table) f();"), ["a.ts:1: name in table"]);
    assert.deepEqual(loose("a.ts", 'if ("name" in table) f();'), []);
    assert.deepEqual(loose("a.ts", "const T: Record<string, number> = { a: 1 };\nf(T[name]);"), ["a.ts:2: T[name]"]);
    assert.deepEqual(loose("a.ts", "const T: Record<string, number> = { a: 1 };\nif (Object.hasOwn(T, name)) f(T[name]);"), []);
  });
});
