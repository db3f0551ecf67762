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

/** Code of a block that names a file stands in that file, up to its indentation; `// ...` is for what is left out. */
test("excerpts stand in the files that they name", () => {
  const lines = (text: string): string =>
    text
      .split("\n")
      .map((line) => line.trim())
      .join("\n");
  let found = 0;
  for (const page of readdirSync(docs).filter((file) => file.endsWith(".md")))
    for (const [, path, excerpt] of readFileSync(join(docs, page), "utf8").matchAll(/^```ts (\S+)\n([^]*?)^```/gm)) {
      const source = lines(readFileSync(join(docs, "..", path), "utf8"));
      let from = 0;
      for (const part of lines(excerpt).split("// ...\n")) {
        const at = source.indexOf(part.trim(), from);
        assert.ok(at >= 0, `${page}: ${path} has no\n${part}`);
        from = at + part.trim().length;
        found++;
      }
    }
  assert.ok(found > 10);
});

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
      timeout: 300_000,
      // Files of the page end with the folder
      cwd: folder,
    });
    assert.equal(status, 0, stderr);
    const promised = [...source.matchAll(/\/\/ -> (.*)$/gm)].map((m) => m[1].trim());
    let next = 0;
    for (const line of stdout.split("\n")) if (line.trim() === promised[next]) next++;
    assert.equal(promised[next], undefined, `it printed\n${stdout}`);
  });
