/* Runs the same Fortran by gfortran and by Isoform: routines `name(n, x, k, y)` over real(8) x(n), integer k(n), real(8) y(n). */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fortran } from "../../src/fortran/index.js";
import { f64, i32, open } from "../../src/index.js";

export const needsGfortran = {
  skip: spawnSync("gfortran", ["--version"], { stdio: "ignore" }).status === 0 ? false : "gfortran is not installed",
};

export interface Inputs {
  readonly x: Float64Array;
  readonly k: Int32Array;
}

/** A routine over all elements; `body` computes `y(i)` from `x(i)` and `k(i)`. */
export const routine = (name: string, body: string, declarations = ""): string => `
  subroutine ${name}(n, x, k, y)
    integer, intent(in) :: n
    real(8), device :: x(n), y(n)
    integer, device :: k(n)
    integer :: i, j, l, m
    real(8) :: a, b, c
    real(4) :: s
    logical :: q
    ${declarations}
    !$cuf kernel do(1) <<<*,*>>>
    do i = 1, n
      ${body.split("\n").join("\n      ")}
    end do
  end subroutine`;

export const moduleOf = (routines: readonly string[], declarations = ""): string => `
module fixtures
  implicit none
  integer, parameter :: rk = kind(1.0d0)${declarations && `\n${declarations}`}
contains
${routines.join("\n")}
end module
`;

/** What gfortran's code gives for `y`, routine by routine. */
export function byGfortran(source: string, names: readonly string[], { x, k }: Inputs): Float64Array[] {
  const folder = mkdtempSync(join(tmpdir(), "isoform-gfortran-"));
  try {
    const n = x.length;
    const calls = names.map((name) => `y = 0\ncall ${name}(${n}, x, k, y)\nwrite(11) y`).join("\n");
    const program = `program run\nuse fixtures\nimplicit none\nreal(8) :: x(${n}), y(${n})\ninteger :: k(${n})
open(10, file='in', access='stream', form='unformatted')\nread(10) x\nread(10) k
open(11, file='out', access='stream', form='unformatted')\n${calls}\nend program`;
    // Attributes of CUDA Fortran mean nothing to it.
    const plain = source.replace(/, device ::/g, " ::").replace(/attributes\(\w+\)/g, "");
    writeFileSync(join(folder, "fixtures.f90"), plain + program);
    writeFileSync(join(folder, "in"), Buffer.concat([Buffer.from(x.buffer), Buffer.from(k.buffer)]));
    const flags = ["-O0", "-ffp-contract=off", "-ffree-line-length-none", "-w", "-fno-range-check"];
    execFileSync("gfortran", [...flags, "fixtures.f90", "-o", "run"], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    execFileSync(join(folder, "run"), [], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    const bytes = readFileSync(join(folder, "out"));
    return names.map((_, r) => new Float64Array(bytes.buffer.slice(bytes.byteOffset + r * n * 8, bytes.byteOffset + (r + 1) * n * 8)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What Isoform's kernels give on a device. */
export async function byIsoform(source: string, names: readonly string[], { x, k }: Inputs, backend: string): Promise<Float64Array[]> {
  const code = fortran(source, { file: "fixtures.F90" });
  const device = await open(backend);
  device.precision = "strict";
  try {
    const found: Float64Array[] = [];
    for (const name of names) {
      const args = { n: x.length, x: device.from(f64, x), k: device.from(i32, k), y: device.array(f64, x.length) };
      await code.routine(name).run(device, args);
      found.push(await device.queue.read(args.y));
    }
    return found;
  } finally {
    await device.close();
  }
}

/** Each routine has gfortran's bits, or is within `tolerance` of them; `declarations` are those of their module. */
export async function compareWithGfortran(
  routines: ReadonlyMap<string, string>,
  inputs: Inputs,
  backends: readonly string[],
  tolerance: (name: string) => number = () => 0,
  declarations = "",
): Promise<void> {
  const names = [...routines.keys()];
  const texts = [...routines].map(([name, body]) => (body.includes("subroutine") ? body : routine(name, body)));
  const source = moduleOf(texts, declarations);
  const expected = byGfortran(source, names, inputs);
  for (const backend of backends) {
    const found = await byIsoform(source, names, inputs, backend);
    names.forEach((name, r) =>
      expected[r].forEach((want, n) => {
        const got = found[r][n];
        const near = Math.abs(got - want) <= tolerance(name) * Math.abs(want);
        assert.ok(
          Object.is(got, want) || near,
          `${backend}: ${routines.get(name)}: for x ${inputs.x[n]}, k ${inputs.k[n]}: ${got}, and gfortran gives ${want}`,
        );
      }),
    );
  }
}
