import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import ts from "typescript";
import { parse } from "./parse.js";
import { sources } from "../sources.js";

/*
 * A new member of a union must not compile until every `switch` over the union has a case for it. So each `switch` ends in
 * `default: return unreachable(...)` or has `satisfies never` in its default. Where what is switched over is open, as text and the syntax
 * of JavaScript are, a comment "// Any other ..." in front of the default says what becomes of the rest.
 */

/** What is wrong with the switches of a source, a line each. */
function open(name: string, text: string): string[] {
  const source = parse(name, text);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isSwitchStatement(node) && !closes(node, text))
      found.push(`${name}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}: switch (${node.expression.getText()})`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function closes({ caseBlock }: ts.SwitchStatement, text: string): boolean {
  const last = caseBlock.clauses.at(-1);
  if (!last || !ts.isDefaultClause(last)) return false;
  const before = text.slice(last.getFullStart(), last.getStart());
  return /\bunreachable\(|\bsatisfies (never|undefined)\b/.test(last.getText()) || /\/\/ Any other /.test(before);
}

describe("switches", () => {
  it("end in never, or say what becomes of any other value", () => {
    assert.deepEqual(
      ["src", "apps"].flatMap(sources).flatMap((file) => open(file, readFileSync(file, "utf8"))),
      [],
      "end them in `default: return unreachable(...)`",
    );
  });
  it("are found where they do not", () => {
    assert.deepEqual(open("a.ts", 'switch (a.kind) {\n  case "x":\n    break;\n}'), ["a.ts:1: switch (a.kind)"]);
    assert.deepEqual(open("a.ts", 'switch (kind) {\n  case "x":\n    break;\n  default:\n    return x;\n}'), ["a.ts:1: switch (kind)"]);
    assert.deepEqual(open("a.ts", "switch (kind) {\n  default:\n    return unreachable(kind);\n}"), []);
    assert.deepEqual(open("a.ts", "switch (kind) {\n  // Any other text is a name.\n  default:\n    return name;\n}"), []);
  });
});
