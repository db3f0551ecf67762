import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "vite";

test("a bundle with all of Isoform in it is told to leave the package out", async () => {
  const folder = mkdtempSync(join(tmpdir(), "isoform-inlined-"));
  try {
    const library = fileURLToPath(new URL("../../src/index.js", import.meta.url));
    const program = `import { open } from ${JSON.stringify(library)};\nawait (await open("js")).close();\n`;
    writeFileSync(join(folder, "main.js"), program);
    await build({
      root: folder,
      configFile: false,
      logLevel: "error",
      ssr: { noExternal: true },
      build: { ssr: "main.js", outDir: "out", rolldownOptions: { output: { codeSplitting: false, entryFileNames: "bundle.mjs" } } },
    });
    const { stderr, status } = spawnSync(process.execPath, [join(folder, "out/bundle.mjs")], {
      encoding: "utf8",
      env: { ...process.env, ISOFORM_THREADS: "2" },
    });
    assert.notEqual(status, 0);
    assert.match(stderr, /pool-worker\.js.*mark it external \(esbuild --external:isoform/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
