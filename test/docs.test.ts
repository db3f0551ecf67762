import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";

/*
 * The code of a page is one program, its blocks one after the other; pages whose code imports isoform are checked by TypeScript and run. A
 * line that ends in `// -> text` must print that text.
 */
const docs = fileURLToPath(new URL("../../docs/", import.meta.url));
/** Inside the package, so that the program imports it by its name; one for each run of the tests, of which there may be several at once. */
const folder = mkdtempSync(fileURLToPath(new URL("./docs-", import.meta.url)));

const pages = readdirSync(docs)
  .filter((file) => file.endsWith(".md"))
  .map((file) => {
    const blocks = [...readFileSync(join(docs, file), "utf8").matchAll(/^```ts\n([^]*?)^```/gm)].map((m) => m[1]);
    return { file, source: blocks.join("\n"), program: join(folder, file.replace(/md$/, "mts")) };
  })
  .filter(({ source }) => /from "isoform/.test(source));

test.before(() => {
  for (const { program, source } of pages) writeFileSync(program, source);
});
test.after(() => rmSync(folder, { recursive: true, force: true }));

test("the pages' code is TypeScript without errors", () => {
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    strict: true,
    skipLibCheck: true,
    types: ["node"],
  };
  const names = pages.map(({ program }) => program);
  assert.ok(names.some((name) => name.endsWith("set.mts")));
  const program = ts.createProgram(names, options);
  program.emit();
  const complaints = ts.getPreEmitDiagnostics(program).map(({ file, start, messageText }) => {
    const line = file ? file.getLineAndCharacterOfPosition(start!).line : 0;
    return `${file?.text.split("\n")[line]}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
  });
  assert.deepEqual(complaints, []);
});

for (const { file, source, program } of pages)
  test(`the code of docs/${file} runs and prints what the page says`, () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program.replace(/mts$/, "mjs")], {
      encoding: "utf8",
      timeout: 120_000,
    });
    assert.equal(status, 0, stderr);
    const promised = [...source.matchAll(/\/\/ -> (.*)$/gm)].map((m) => m[1].trim());
    let next = 0;
    for (const line of stdout.split("\n")) if (line.trim() === promised[next]) next++;
    assert.equal(promised[next], undefined, `it printed\n${stdout}`);
  });
