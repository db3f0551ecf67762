import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import ts from "typescript";
import { parse } from "./parse.js";
import { sources } from "../sources.js";

/*
 * Whatever brings code into a process (modules, shared libraries, compilers, workers, text that becomes code) stands in docs/security.md with its file:
 * what a file of data may lead to is decided there.
 */

const CALLS = new Set([
  "createRequire",
  "spawn",
  "spawnSync",
  "exec",
  "execSync",
  "execFile",
  "execFileSync",
  "fork",
  "eval",
  "Function",
  "dlopen",
]);
const CONSTRUCTORS = new Set(["Function", "Worker", "SharedWorker", "WebAssembly.Module"]);
const WEBASSEMBLY = new Set(["compile", "instantiate", "compileStreaming", "instantiateStreaming"].map((name) => `WebAssembly.${name}`));

/** Modules of the library itself, and of Node. */
const isOwn = (name: ts.Node): boolean => ts.isStringLiteral(name) && /^(\.|#|node:)/.test(name.text);

/** What a node brings in, as the page calls it; undefined of most. */
function kindOf(node: ts.Node): string | undefined {
  if (ts.isNewExpression(node)) {
    const name = node.expression.getText();
    return CONSTRUCTORS.has(name) ? `new ${name}` : undefined;
  }
  if (!ts.isCallExpression(node)) return undefined;
  const { expression } = node;
  if (expression.kind === ts.SyntaxKind.ImportKeyword) return isOwn(node.arguments[0]) ? undefined : "import";
  if (WEBASSEMBLY.has(expression.getText())) return expression.getText();
  if (ts.isIdentifier(expression)) return CALLS.has(expression.text) ? expression.text : undefined;
  if (!ts.isPropertyAccessExpression(expression)) return undefined;
  const { name, expression: of } = expression;
  if (name.text === "load" && /koffi$/i.test(of.getText())) return "koffi.load";
  if (name.text === "register" && of.getText().endsWith("serviceWorker")) return "serviceWorker.register";
  return name.text === "dlopen" || /^(child_process|vm)$/.test(of.getText()) ? name.text : undefined;
}

/** Each thing that a file brings in, once. */
function executed(name: string, text: string): string[] {
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    const kind = kindOf(node);
    if (kind !== undefined) found.add(`${name}: ${kind}`);
    ts.forEachChild(node, visit);
  };
  visit(parse(name, text));
  return [...found];
}

/** The rows of the page's table: files, and what they do. */
function listed(page: string): string[] {
  const rows = page.matchAll(/^\| ((?:`[\w/.-]+\.ts`(?:, )?)+) *\| ((?:`[\w. ]+`(?:, )?)+) *\|/gm);
  const codes = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code);
  return [...rows].flatMap(([, files, kinds]) => codes(files).flatMap((file) => codes(kinds).map((kind) => `${file}: ${kind}`)));
}

describe("what is imported or executed", () => {
  it("stands in docs/security.md", () => {
    assert.deepEqual(
      ["src", "apps", "site/src"]
        .flatMap(sources)
        .flatMap((file) => executed(file, readFileSync(file, "utf8")))
        .toSorted(),
      listed(readFileSync("docs/security.md", "utf8")).toSorted(),
      "list what brings code into a process in docs/security.md, with where its name comes from: files of data name no code",
    );
  });
  it("is found", () => {
    for (const [text, kind] of [
      ["await import(path);", "import"],
      ['import("koffi");', "import"],
      ["createRequire(a)(b);", "createRequire"],
      ["spawnSync(a);", "spawnSync"],
      ["process.dlopen(a, b);", "dlopen"],
      ["this.koffi.load(a);", "koffi.load"],
      ["new Function(a)();", "new Function"],
      ["new Worker(a);", "new Worker"],
      ["vm.runInThisContext(a);", "runInThisContext"],
      ["new WebAssembly.Module(a);", "new WebAssembly.Module"],
    ])
      assert.deepEqual(executed("a.ts", text), [`a.ts: ${kind}`], text);
    assert.deepEqual(executed("a.ts", 'import("./b.js"); import("node:fs"); cache.load(a); forEach(f);'), []);
  });
});
