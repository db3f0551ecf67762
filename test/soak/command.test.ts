import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

const run = fileURLToPath(new URL("./run.js", import.meta.url));

describe("npm run soak", () => {
  it("tries subjects for a moment, and keeps a record of each run", () => {
    const folder = mkdtempSync(join(tmpdir(), "isoform-soak-test-"));
    try {
      const file = join(folder, "soak.json");
      const all = "kernels,skeletons,sources,files,workers";
      for (const [seed, only] of [
        ["1", "workers"],
        ["2", all],
      ]) {
        const words = [run, "--only", only, "--seed", seed, "--trials", "1", "--json", file];
        const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
        assert.equal(status, 0, stdout + stderr);
        assert.match(stdout, new RegExp(`^seed ${seed}\n(.*defects 0\n)+$`));
      }
      const records = JSON.parse(readFileSync(file, "utf8"));
      assert.deepEqual(
        records.map(({ seed, trials, defects }: Record<string, unknown>) => ({ seed, trials, defects })),
        [
          { seed: 1, trials: { workers: 1 }, defects: [] },
          { seed: 2, trials: { kernels: 1, skeletons: 1, sources: 1, files: 1, workers: 1 }, defects: [] },
        ],
      );
      const { processor, node, counts } = records[1];
      assert.ok(processor.length > 0 && node === process.version);
      assert.ok(counts.kernels === 25 && counts.skeletons === 3 && counts.sources === 25 && counts.files === 50);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("ends with its record after Ctrl-C", { timeout: 60_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "isoform-soak-test-"));
    const file = join(folder, "soak.json");
    const child = spawn(process.execPath, [run, "--only", "kernels", "--minutes", "10", "--json", file], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      let told = "";
      child.stdout.on("data", (text: Buffer) => {
        if (!told.includes("defects") && (told += text.toString()).includes("defects")) child.kill("SIGINT");
      });
      assert.deepEqual(await once(child, "exit"), [0, null]);
      const [{ counts, seconds }] = JSON.parse(readFileSync(file, "utf8"));
      assert.ok(counts.kernels > 0 && seconds < 50);
    } finally {
      child.kill("SIGKILL");
      rmSync(folder, { recursive: true });
    }
  });

  it("refuses what it does not know", () => {
    const { status, stderr } = spawnSync(process.execPath, [run, "--only", "nothing"], { encoding: "utf8" });
    assert.equal(status, 2);
    assert.match(stderr, /^soak: --only nothing: the subjects are kernels, native, .*mutants\n$/);
  });
});
