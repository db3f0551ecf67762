// A solver of the equations of Euler that is written in Fortran, examples/euler.f90: its loops are the kernels, and its host part runs here.
import { readFileSync } from "node:fs";
import { open } from "isoform";
import { fortran } from "isoform/fortran";

// Beside this file, or where it was compiled from.
const solver = import.meta.url.endsWith(".ts") ? "euler.f90" : "../../examples/euler.f90";
const text = readFileSync(new URL(solver, import.meta.url), "utf8");
const code = fortran(text, { file: "euler.f90" });
const device = await open(process.argv[2] ?? "wasm");
// The bits of gfortran -O0 -ffp-contract=off, on any device.
device.precision = "strict";

const n = 40;
const sizes = { nx: n, ny: n };
const w = code.array(device, "advance", "w", sizes);
const f = code.array(device, "advance", "f", sizes);
await code.routine("start").run(device, { ...sizes, w });
const { steps } = await code.routine("advance").run(device, { ...sizes, dx: 1 / n, cfl: 0.45, time: 0, until: 0.8, w, f });

// Fortran's w(i, j, k) is w[k][j][i] here, so the densities come first, ghosts included.
const densities = (await device.queue.read(w)).subarray(0, w.size / 4);
console.log(`${steps} steps, density up to ${Math.max(...densities).toFixed(6)}`); // -> 152 steps, density up to 1.638788
await device.close();
