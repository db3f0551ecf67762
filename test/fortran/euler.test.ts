/* The example euler.f90, step for step against gfortran. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { fortran } from "../../src/fortran/index.js";
import { open } from "../../src/index.js";
import { needsGfortran } from "./gfortran.js";

const FILE = fileURLToPath(new URL("../../../examples/euler.f90", import.meta.url));
const [NX, NY, UNTIL] = [32, 24, 0.3];

/** Steps taken and conserved values, ghosts included, by gfortran's code. */
function byGfortran(): { steps: number; w: Float64Array } {
  const folder = mkdtempSync(join(tmpdir(), "isoform-euler-"));
  try {
    copyFileSync(FILE, join(folder, "euler.f90"));
    writeFileSync(
      join(folder, "run.f90"),
      `program run
  use euler
  implicit none
  integer, parameter :: nx = ${NX}, ny = ${NY}
  real(rkind) :: w(1-ghosts:nx+ghosts, 1-ghosts:ny+ghosts, 4), f(nx+1, ny+1, 4), time
  integer :: steps
  w = 0
  f = 0
  time = 0
  call start(nx, ny, w)
  call advance(nx, ny, 1.0_rkind/${NX}, 0.45_rkind, time, ${UNTIL}_rkind, w, f, steps)
  open(10, file='out', access='stream', form='unformatted')
  write(10) real(steps, rkind), w
end program`,
    );
    const flags = ["-O0", "-ffp-contract=off", "-ffree-line-length-none"];
    execFileSync("gfortran", [...flags, "euler.f90", "run.f90", "-o", "run"], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    execFileSync(join(folder, "run"), [], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    const bytes = readFileSync(join(folder, "out"));
    const [steps, ...w] = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
    return { steps, w: Float64Array.from(w) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("the Euler solver in Fortran has gfortran's bits on wasm", needsGfortran, async () => {
  const expected = byGfortran();
  assert.ok(expected.steps > 30, `${expected.steps} steps`);
  const code = fortran(readFileSync(FILE, "utf8"), { file: "euler.f90" });
  const device = await open("wasm");
  device.precision = "strict";
  try {
    const sizes = { nx: NX, ny: NY };
    const [w, f] = ["w", "f"].map((name) => code.array(device, "advance", name, sizes));
    await code.routine("start").run(device, { ...sizes, w });
    const { steps } = await code.routine("advance").run(device, { ...sizes, dx: 1 / NX, cfl: 0.45, time: 0, until: UNTIL, w, f });
    assert.equal(steps, expected.steps);
    const found = await device.queue.read(w);
    assert.equal(found.length, expected.w.length);
    const unlike = [...found.keys()].filter((n) => !Object.is(found[n], expected.w[n]));
    assert.deepEqual(unlike, [], `${unlike.length} of ${found.length} values differ`);
  } finally {
    await device.close();
  }
});
