import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Nvrtc } from "../../../src/device/cuda/nvrtc.js";
import { DeviceError } from "../../../src/base/errors.js";
import { damage, DAMAGES, numbers } from "../../cache/damage.js";

const top = mkdtempSync(join(tmpdir(), "isoform-cubin-"));
process.env.XDG_CACHE_HOME = top;
after(() => rmSync(top, { recursive: true }));

const nvrtc = await Nvrtc.open().catch((error: unknown) => {
  if (error instanceof DeviceError) return error;
  throw error;
});

test("machine code for GPUs that was damaged on disk is compiled anew", { skip: nvrtc instanceof Error && nvrtc.message }, () => {
  if (nvrtc instanceof Error) return;
  const [arch] = nvrtc.architectures;
  const compiled = () =>
    [3, 5].map((factor) =>
      nvrtc.compileToCubin(`extern "C" __global__ void scale(double *x) { x[threadIdx.x] *= ${factor}; }`, arch, { fast: true }),
    );
  const intact = compiled();
  const pick = numbers(3);
  for (const [trial] of DAMAGES.entries()) {
    const what = damage(join(top, "isoform"), trial, pick);
    assert.deepEqual(compiled(), intact, what);
  }
});
