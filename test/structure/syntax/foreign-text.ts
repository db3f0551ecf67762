import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import ts from "typescript";
import { parse } from "./parse.js";
import { sources } from "../sources.js";

/*
 * Names and files that users gave enter emitted code through src/emit/text.ts or as identifiers of src/base/names.ts. In a template of an emitter,
 * `something.name` and `something.file` stand inside of a call that makes one of these of them, or in an error.
 */

const FOREIGN = /^(name|file|word)$/;
/** Calls whose arguments become identifiers, comments or strings, or keys of tables that are never written. */
const MAKES =
  /(^|\.)(fresh|of|argument|wordOf|named|commentText|stringText|keyText|originText|Error|param|pointerParam|indexParam|shared|field|allocate|derived|getOrInsert|get|has|set)$/;
/** Objects whose names are the emitters' own words. */
const OWN = /^(entry|dialect|helper|field|param\.slot|this\.frame|fold|finish|main|own|program\.main|this)$/;

/** What is no text of code: keys of tables, identifiers that were made already, labels, and remarks. */
const ALLOWED = new Map([
  ["src/emit/c/opencl.ts", ["JSON.stringify(features)"]],
  ["src/emit/c/openmp.ts", ["p.name"]],
  ["src/emit/c/uniform-ways.ts", ["JSON.stringify(load.indices)"]],
  ["src/emit/standalone/signature.ts", ["arg.word", "slot.name"]],
  ["src/emit/wasm/inner-loop.ts", ["this.variable.name"]],
  ["src/emit/wasm/teams.ts", ["stmt.name"]],
  ["src/emit/wasm/width.ts", ["variable.name"]],
  ["src/emit/wgsl/sorted-scatter.ts", ["target.name"]],
  ["src/emit/wgsl/writer.ts", ["known.name", "place.name"]],
]);

function raw(name: string, text: string): string[] {
  const source = parse(name, text);
  const found: string[] = [];
  const isMade = (node: ts.Node): boolean => {
    for (let n = node.parent; !ts.isSourceFile(n); n = n.parent) {
      if (ts.isCallExpression(n) && MAKES.test(n.expression.getText())) return true;
      if (ts.isNewExpression(n) && n.expression.getText().endsWith("Error")) return true;
      if (ts.isStatement(n)) return false;
    }
    return false;
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTemplateSpan(node) && ts.isPropertyAccessExpression(node.expression)) {
      const { expression: of, name: property } = node.expression;
      if (FOREIGN.test(property.text) && !OWN.test(of.getText()) && !isMade(node))
        found.push(`${name}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}: ${node.expression.getText()}`);
    }
    if (ts.isCallExpression(node) && node.expression.getText() === "JSON.stringify" && ts.isTemplateSpan(node.parent) && !isMade(node))
      found.push(`${name}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}: ${node.getText()}`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

describe("text of users", () => {
  it("enters emitted code through src/emit/text.ts and src/base/names.ts", () => {
    assert.deepEqual(
      sources("src/emit").flatMap((file) =>
        raw(file, readFileSync(file, "utf8")).filter((line) => !ALLOWED.get(file)?.some((text) => line.endsWith(`: ${text}`))),
      ),
      [],
    );
  });
  it("is found where it does not", () => {
    assert.deepEqual(raw("a.ts", 'code.line(`// Kernel "${ir.name}"`);'), ["a.ts:1: ir.name"]);
    assert.deepEqual(raw("a.ts", "code.line(`// ${commentText(ir.name)} ${names.fresh(`${p.name}_lanes`)}`);"), []);
    assert.deepEqual(raw("a.ts", "throw new Error(`no ${ir.name}`);"), []);
  });
});
