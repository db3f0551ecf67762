import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { loadKoffi } from "../../../src/device/ffi.js";
import { compileLibrary, findCompiler } from "../../../src/device/native/compiler.js";
import { hooks } from "../../../src/device/tools/hooks.js";
import { f32, kernel, open, range, region, view } from "../../../src/index.js";
import { nvtx } from "../../../src/portability/index.js";

/** Stands in for NVIDIA's library: it writes down what it is told. */
const FAKE = `#include <stdint.h>
#include <stdio.h>
#include <string.h>

static char text[4096];
static uint64_t next = 41;

uint64_t nvtxRangeStartA(const char *name) {
  uint64_t range = next++;
  snprintf(text + strlen(text), sizeof text - strlen(text), "+%d %s\\n", (int)range, name);
  return range;
}

void nvtxRangeEnd(uint64_t range) { snprintf(text + strlen(text), sizeof text - strlen(text), "-%d\\n", (int)range); }

const char *heard(void) { return text; }
`;

const folder = mkdtempSync(join(tmpdir(), "isoform-nvtx-"));
process.env.XDG_CACHE_HOME = folder;
after(() => rmSync(folder, { recursive: true }));

const [koffi, compiler] = [await loadKoffi(), findCompiler()];

test(
  "ranges of launches, copies, waits and regions",
  { skip: koffi && compiler ? false : "koffi or a C compiler is missing" },
  async () => {
    process.env.ISOFORM_NVTX = compileLibrary(compiler!, "fake NVTX", FAKE, "strict", () => undefined);
    const { tool, missing } = await nvtx();
    assert.equal(missing, undefined);
    const detach = hooks.attach(tool!);
    const device = await open("js");
    const one = kernel("one", { y: view(f32) }, ({ y }, i) => {
      y[i] = 1;
    });
    const y = device.array(f32, 4);
    region("setup", () => device.queue.submit(device.prepare(one, { y }, range(4))));
    await device.queue.read(y);
    await device.close();
    detach();
    const heard = koffi!.load(process.env.ISOFORM_NVTX).func("heard", "str", []) as unknown as () => string;
    assert.deepEqual(heard().trim().split("\n"), [
      "+41 setup",
      "+42 one on js",
      "-42",
      "-41",
      "+43 wait: read of js",
      "+44 read cpu to host, 16 bytes",
      "-44",
      "-43",
    ]);
  },
);

test("a library that is not there, or is another one, is named", async () => {
  process.env.ISOFORM_NVTX = join(folder, "none.so");
  assert.match((await nvtx()).missing!, /the library .*none\.so, which ISOFORM_NVTX names, does not load|koffi/);
  const text = join(folder, "text.so");
  writeFileSync(text, "no library");
  process.env.ISOFORM_NVTX = text;
  assert.match((await nvtx()).missing!, /the library .*text\.so, which ISOFORM_NVTX names, does not load|koffi/);
  delete process.env.ISOFORM_NVTX;
  const { tool, missing } = await nvtx();
  assert.ok(tool !== undefined || /libnvToolsExt\.so\.1 is not on the loader's path|koffi/.test(missing!));
});
