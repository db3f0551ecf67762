import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { f64, helper, kernel, open, range, view } from "../../src/index.js";
import { dense } from "../../src/domain/index.js";
import { scan } from "../../src/patterns/index.js";
import { devices } from "../../src/set/index.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "isoform-copy-"));
after(() => rmSync(folder, { recursive: true }));

test("objects of another copy of the library are refused with the places of both", async () => {
  cpSync(join(root, "dist/src"), join(folder, "dist/src"), { recursive: true });
  cpSync(join(root, "package.json"), join(folder, "package.json"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const copied = <M>(path: string) => import(pathToFileURL(join(folder, "dist/src", path)).href) as Promise<M>;
  const other = await copied<typeof import("../../src/index.js")>("index.js");
  const { devices: otherDevices } = await copied<typeof import("../../src/set/index.js")>("set/index.js");
  const { dense: otherDense } = await copied<typeof import("../../src/domain/index.js")>("domain/index.js");
  const [device, strange] = [await open("js"), await other.open("js")];
  const [y, z] = [device.array(f64, 3), strange.array(f64, 3)];
  const places = `two copies of isoform are loaded: ${root.replace(/\/$/, "")}, ${folder}`;
  const told = (error: Error): boolean => error.message.includes(places);
  const set = kernel("set", { y: view(f64) }, ({ y }, i) => {
    y[i] = 1;
  });
  await assert.rejects(device.run(set, { y: z as never }, range(3)), told);
  await assert.rejects(device.queue.read(z as never), told);
  const launch = strange.prepare(set, { y: z }, range(3));
  assert.throws(() => device.queue.submit(launch), told);
  assert.throws(() => scan(device, { input: z as never, output: y, op: "sum" }), told);
  const one = (x: number): number => x + 1;
  const two = other.helper(
    (x: number): number => one(x) + 1,
    () => [one],
  );
  const plus = kernel("plus", { y: view(f64), two }, ({ y, two }, i) => {
    y[i] = two(y[i]);
  });
  await assert.rejects(device.run(plus, { y }, range(3)), told);
  helper(two, () => [one]);
  const [ours, theirs] = [dense(await devices(["js"]), [4, 4]), otherDense(await otherDevices(["js"]), [4, 4])];
  const field = theirs.field("u", f64);
  assert.throws(() => ours.container("fill", { field: field as never }, ({ field }, c) => void (field[c as never] = 1 as never)), told);
  const made = theirs.container("fill", { field }, ({ field }, c) => {
    field[c] = 1;
  });
  await assert.rejects(async () => ours.run(made as never), told);
  await device.close();
  await strange.close();
});
