import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { exportsOf } from "../../scripts/docs/entry-points.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const exports = exportsOf(root);

test("what package.json exports is there, with types, and loads under its name", async () => {
  for (const name of ["./ir", "./backend", "./apps/lbm"]) assert.ok(exports.has(name), name);
  for (const [name, entry] of exports) {
    assert.ok(existsSync(root + entry.types) && existsSync(root + entry.default), name);
    const module = (await import(name.replace(/^\./, "isoform"))) as object;
    assert.ok(Object.keys(module).length > 0, `${name} exports nothing`);
  }
});

test("the package has what package.json exports, and no source maps, whose sources it lacks", () => {
  const { stdout } = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: root, encoding: "utf8" });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const paths = files.map(({ path }) => path);
  assert.deepEqual(
    paths.filter((path) => path.endsWith(".map")),
    [],
  );
  for (const entry of exports.values()) for (const path of [entry.types, entry.default]) assert.ok(paths.includes(path.slice(2)), path);
});

test("one instance of each part serves all entries", async () => {
  const [main, ir, backend] = await Promise.all(["isoform", "isoform/ir", "isoform/backend"].map((name) => import(name)));
  assert.equal(main.View, backend.View);
  assert.equal(typeof ir.kernelFromIR, "function");
  backend.registerBackend({ name: "nowhere", probe: async () => ({ backend: "nowhere", devices: [], versions: {} }), open: assert.fail });
  assert.ok(main.backendNames().includes("nowhere"));
  await assert.rejects((await import("isoform/set")).devices("nowhere:*"), {
    name: "DeviceError",
    message: 'device "nowhere": there is none on this machine (isoform doctor lists the devices)',
  });
});
