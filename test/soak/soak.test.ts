import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { mutatedBytes, mutatedJson, mutatedText, picks } from "./mutate.js";
import { soak, type Soak } from "./soak.js";
import type { Subject } from "./subject.js";

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

const told = (over: Partial<Soak>): Soak => ({
  subjects: [],
  seed: 5,
  seconds: 60,
  trials: 4,
  begins: () => {},
  found: () => {},
  goes: () => {},
  stopped: () => false,
  ...over,
});

describe("a soak", () => {
  it("goes on after a defect, and tells its subject and seed", async () => {
    const found: string[] = [];
    const subject: Subject = {
      name: "odd",
      weight: 1,
      open: () =>
        Promise.resolve({
          trial: (seed) => (seed === 6 ? Promise.reject(new Error("wrong\nat length")) : Promise.resolve({ things: 2 })),
          close: () => Promise.resolve(),
        }),
    };
    const { counts, trials, defects } = await soak(
      told({ subjects: [subject], found: (name, seed, error) => found.push(`${name} ${seed} ${error.message}`) }),
    );
    assert.deepEqual([counts, trials], [{ things: 6 }, { odd: 4 }]);
    assert.deepEqual(defects, [{ subject: "odd", seed: 6, what: "wrong" }]);
    assert.deepEqual(found, ["odd 6 wrong\nat length"]);
  });

  it("shares the time by weights, ends when it is told to, and says what is missing", async () => {
    let now = 0;
    const order: string[] = [];
    const slow = (name: string, weight: number): Subject => ({
      name,
      weight,
      open: () =>
        Promise.resolve({
          async trial() {
            order.push(name);
            await new Promise((resolve) => setTimeout(resolve, 20));
            return {};
          },
          close: () => Promise.resolve(),
        }),
    });
    const absent: Subject = { ...slow("absent", 1), missing: () => Promise.resolve("not here") };
    const subjects = [slow("often", 3), slow("seldom", 1), absent];
    const { missing } = await soak(told({ subjects, trials: Infinity, stopped: () => now++ >= 16 }));
    assert.deepEqual(missing, { absent: "not here" });
    const often = order.filter((name) => name === "often").length;
    assert.ok(order.length === 16 && often >= 10 && often <= 14, order.join());
  });
});

it("mutants are the same for the same seed, and differ from what they are made of", () => {
  const text = "const x = a[i] * 2; if (x > 1) y[i] = Math.sqrt(x);";
  const json = { a: [1, { b: "c" }], d: null };
  const all = (seed: number): unknown[] => {
    const pick = picks(seed);
    return [mutatedText(text, pick), [...mutatedBytes(Buffer.from(text), pick)].join(), JSON.stringify(mutatedJson(json, pick))];
  };
  const list = Array.from({ length: 50 }, (_, seed) => all(seed));
  assert.deepEqual(
    list,
    Array.from({ length: 50 }, (_, seed) => all(seed)),
  );
  assert.ok(new Set(list.map(([mutant]) => mutant)).size > 40);
  assert.ok(list.filter(([mutant]) => mutant === text).length < 5);
});
