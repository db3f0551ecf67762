import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

/* The plugin in oxlint, whose plugins are ESLint's: it says of a file what the compiler says. */

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "isoform-lint-"));
const specifier = join(ROOT, "dist/src/check/eslint-plugin.js");
const config = { jsPlugins: [{ name: "isoform", specifier }], categories: { correctness: "off" }, rules: { "isoform/kernel": "error" } };
writeFileSync(join(folder, ".oxlintrc.json"), JSON.stringify(config));

/** Lines and what is said of them. */
function lint(name: string, text: string): string[] {
  writeFileSync(join(folder, name), text);
  const command = [join(ROOT, "node_modules/oxlint/bin/oxlint"), "-c", ".oxlintrc.json", "--format=unix", name];
  const { stdout } = spawnSync(process.execPath, command, { cwd: folder, encoding: "utf8" });
  return stdout.split("\n").flatMap((line) => {
    const found = /^[^:]+:(\d+):\d+: (.*) \[/.exec(line);
    return found ? [`${found[1]}: ${found[2]}`] : [];
  });
}

test("it finds the planted mistakes that syntax tells, with the compiler's words", () => {
  const planted = readFileSync(join(ROOT, "test/check/planted-mistakes.ts"), "utf8");
  const lines = planted.split("\n");
  const found = lint("planted.ts", planted);
  assert.ok(found.length >= 9, found.join("\n"));
  for (const text of found) {
    const [, line, message] = /^(\d+): (.*)$/.exec(text)!;
    const told = /\/\/ ! (.*)$/.exec(lines[Number(line) - 1])?.[1];
    assert.ok(told !== undefined && message.includes(told), `${text} beside ${told}`);
  }
});

test("it says nothing of functions of the host, and nothing of what kernels have", () => {
  const host = "export const f = (a?: { b: number }) => { try { return a?.b ?? `${Math.random()}`; } catch { return 0; } };\n";
  const kernels = `import { f64, teamKernel, view } from "isoform";
teamKernel("t", { x: view(f64) }, ({ x }, team) => {
  const { s } = team.reduce(4, { s: "sum" }, (j, r) => r.s.add(j));
  const tile = team.scratch("f64", 64);
  tile[0] = s;
  x[team.index] = tile[0];
});
`;
  assert.deepEqual(lint("host.ts", host + kernels), []);
});

test("it follows helpers by name, and other names of imports", () => {
  const text = `import { kernel as k, helper } from "isoform";
import * as iso from "isoform";
const chance = helper(() => Math.random());
function loop(n: number): number { return loop(n - 1); }
k("a", {}, (_, i) => loop(i), () => [loop, chance]);
iso.kernel("b", {}, async (_, i) => { for (const j in [i]) void j; });
`;
  assert.deepEqual(lint("names.ts", text), [
    "3: Math.random is not part of the kernel language (draw from a counter: see philox)",
    "4: loop calls itself (kernels have no recursion; write a loop)",
    "6: an async function or a generator is not part of the kernel language (write a plain function)",
    "6: for-in is not part of the kernel language (count with for (let k = 0; k < n; k++))",
  ]);
});
