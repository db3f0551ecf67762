import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { open } from "../../src/device/open.js";

const program = fileURLToPath(new URL("../../bench/frames.js", import.meta.url));
const [NX, NY] = [64, 32];
/** Of a step of the wind tunnel: nine populations in and out and the mark of obstacles. */
const STEP_BYTES = 76;

/** Why the program cannot run here. */
async function whyNot(): Promise<string | false> {
  try {
    await (await open("webgpu")).close();
    return false;
  } catch (error) {
    return (error as Error).message;
  }
}

test("frames of the wind tunnel are timed and their bytes counted", { skip: await whyNot() }, () => {
  const folder = mkdtempSync(join(tmpdir(), "isoform-frames-"));
  try {
    const file = join(folder, "frames.json");
    const args = [program, "--sizes", `${NX}x${NY}`, "--steps", "1,3", "--frames", "2", "--copied", "1024", "--json", file];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 300_000 });
    assert.equal(status, 0, stderr);
    const { rows } = JSON.parse(readFileSync(file, "utf8")) as { rows: { steps: number; cpu: number; wall: number; bytes: number }[] };
    assert.deepEqual(
      rows.map(({ steps }) => steps),
      [1, 3],
    );
    for (const { cpu, wall } of rows) assert.ok(cpu > 0 && wall > 0);
    const step = (rows[1].bytes - rows[0].bytes) / 2 / (NX * NY);
    // What lies around the domain is read, too.
    assert.ok(step >= STEP_BYTES && step < 1.06 * STEP_BYTES, `${step} bytes a cell`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
