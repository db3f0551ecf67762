import assert from "node:assert/strict";
import { test } from "node:test";
import { f64, kernel, range, view } from "../../src/index.js";
import { openPort } from "../../src/portability/ports/open.js";
import { EmittedFiles } from "../../src/portability/source-files.js";
import { missing } from "../emit/standalone/compiled.js";

const twice = kernel("twice", { x: view(f64) }, ({ x }, i) => {
  x[i] = 2 * x[i];
});
const added = kernel("added", { x: view(f64), y: view(f64) }, ({ x, y }, i) => {
  x[i] += y[i];
});

test("files of an emitted port are the ones of the kernels that are launched meanwhile", { skip: missing("gcc") }, async () => {
  const device = await openPort("c");
  try {
    const [x, y] = [device.array(f64, 8), device.array(f64, 8)];
    const [ports, others] = [new EmittedFiles(device.name), new EmittedFiles("native")];
    await device.run(added, { x, y }, range(8));
    const work = async () => {
      await device.run(twice, { x }, range(8));
      await device.run(twice, { x }, range(4));
    };
    await others.during(() => ports.during(work));
    await device.run(added, { x, y }, range(8));
    assert.deepEqual(
      ports.files.map(({ file }) => file),
      ["twice"],
    );
    const [{ id, lines }] = ports.files;
    assert.match(id, /^[0-9a-f]{16}$/);
    // Its head is a comment, and its last line a brace.
    assert.match(lines, /^[2-9]\d*.*\d$/);
    assert.deepEqual(others.files, []);
  } finally {
    await device.close();
  }
});
