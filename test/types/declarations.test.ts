import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("../../../", import.meta.url));

test("a package that exports kernels, grids and species has declarations", () => {
  const folder = mkdtempSync(join(tmpdir(), "isoform-declarations-"));
  try {
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(root, join(folder, "node_modules/isoform"));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    const file = join(folder, "library.ts");
    cpSync(join(root, "test/types/package/library.ts"), file);
    const program = ts.createProgram([file], {
      declaration: true,
      emitDeclarationOnly: true,
      outDir: folder,
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2022,
      strict: true,
      skipLibCheck: true,
      types: [],
      // As an installed package, which lies in node_modules.
      preserveSymlinks: true,
    });
    const { diagnostics } = program.emit();
    const messages = [...ts.getPreEmitDiagnostics(program), ...diagnostics].map(({ messageText }) =>
      ts.flattenDiagnosticMessageText(messageText, "\n"),
    );
    assert.deepEqual(messages, []);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
