/* Kernels of CUDA Fortran that use the thread's index in any way: one element for each thread of the launch. Results by hand. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fortran, portSources } from "../../src/fortran/index.js";
import { f64, open } from "../../src/index.js";

const N = 20;
const numbers = Float64Array.from({ length: N }, (_, n) => n + 1);

/** A kernel over y(n) and the subroutine that launches it. */
const text = (kernel: string, launch = "<<<3, 8>>>", declarations = ""): string => `
module m
  use cudafor
  implicit none
  integer, parameter :: tile = 4
contains
  attributes(global) subroutine k(x, y, n)
    real(8) :: x(:), y(:)
    integer, value :: n
    integer :: i, j, t, b, first, step, last
    real(8) :: s
    ${kernel.trim().split("\n").join("\n    ")}
  end subroutine
  subroutine s(x, y, n)
    integer, intent(in) :: n
    real(8), device :: x(n), y(n)
    type(dim3) :: grid, threads
    ${declarations}
    call k${launch}(x, y, n)
  end subroutine
end module
`;

async function run(source: string): Promise<number[]> {
  const found: number[][] = [];
  for (const name of ["js", "wasm"]) {
    const device = await open(name);
    try {
      const y = device.array(f64, N);
      await fortran(source, { file: "k.CUF" })
        .routine("s")
        .run(device, { n: N, x: device.from(f64, numbers), y });
      found.push([...(await device.queue.read(y))]);
    } finally {
      await device.close();
    }
  }
  assert.deepEqual(found[1], found[0]);
  return found[0];
}

const INDEX = "i = (blockIdx%x-1)*blockDim%x + threadIdx%x";
const all = (of: (i: number) => number): number[] => Array.from({ length: N }, (_, n) => of(n + 1));

/** Kernel, launch, declarations and statements of the host, results. */
const KERNELS: Record<string, [kernel: string, expected: number[], launch?: string, host?: string]> = {
  "behind other statements": [`last = size(x)\ns = 2\n${INDEX}\nif (i <= last) y(i) = s*x(i)`, all((i) => 2 * i)],
  "in parts": ["t = threadIdx%x\nb = blockIdx%x\ni = t + (b-1)*blockDim%x\nif (i <= n) y(i) = 3*x(i)", all((i) => 3 * i)],
  "as numbers": [
    `${INDEX}\nif (i <= n) y(i) = threadIdx%x + 100*blockIdx%x`,
    all((i) => ((i - 1) % 8) + 1 + 100 * (Math.trunc((i - 1) / 8) + 1)),
  ],
  "of one block": ["i = threadIdx%x\ny(i) = x(i) + blockDim%x + 1000*gridDim%x", all((i) => (i <= 16 ? i + 1016 : 0)), "<<<1, 16>>>"],
  "as subscripts": ["y(threadIdx%x) = x(threadIdx%x) + 1", all((i) => (i <= 10 ? i + 1 : 0)), "<<<1, 10>>>"],
  "with blocks of a constant": ["i = (blockIdx%x-1)*tile + threadIdx%x\ny(i) = -x(i)", all((i) => -i), "<<<5, tile>>>"],
  "in strides over the grid": [
    `first = (blockIdx%x-1)*blockDim%x + threadIdx%x\nstep = blockDim%x*gridDim%x\ndo i = first, n, step\ny(i) = x(i) + 1\nend do`,
    all((i) => i + 1),
    "<<<2, 3>>>",
  ],
  "in a loop's head": [
    "do i = blockDim%x*(blockIdx%x-1) + threadIdx%x, n, blockDim%x*gridDim%x\ny(i) = x(i)\nend do",
    all((i) => i),
    "<<<1, 3>>>",
  ],
  "along two axes": [
    `${INDEX}\nj = (blockIdx%y-1)*blockDim%y + threadIdx%y\nif (i > 4) return\ny(i + 4*(j-1)) = 10*i + j`,
    all((i) => 10 * (((i - 1) % 4) + 1) + Math.trunc((i - 1) / 4) + 1),
    "<<<grid, threads>>>",
    "threads = dim3(3, 5, 1)\ngrid = dim3(ceiling(4.0/threads%x), 1, 1)",
  ],
  "whose bound is another index": [
    `${INDEX}\nj = (blockIdx%y-1)*blockDim%y + threadIdx%y\nif (i > 5 .or. j > i) return\ny(i) = j`,
    all((i) => (i <= 5 ? Math.min(i, 4) : 0)),
    "<<<dim3(1, 2, 1), dim3(8, 2, 1)>>>",
  ],
  "with sizes from a constant": [
    `${INDEX}\nif (i <= n) y(i) = x(i)`,
    all((i) => i),
    "<<<grid, shape>>>",
    "type(dim3), parameter :: shape = dim3(8, 1, 1)\ngrid = dim3((n + shape%x - 1)/shape%x, 1, 1)",
  ],
  "that is changed": [`${INDEX}\ni = i + 1\nif (i <= n) y(i) = x(i)`, all((i) => (i === 1 ? 0 : i))],
};

describe("threads of CUDA Fortran", () => {
  for (const [name, [kernel, expected, launch, host]] of Object.entries(KERNELS))
    it(name, async () => {
      assert.deepEqual(await run(text(kernel, launch, host)), expected);
    });

  it("take the launch's sizes by name where a kernel is launched by itself", async () => {
    const kernel = fortran(text("y(threadIdx%x) = blockIdx%x"), { file: "k.CUF" }).kernels.get("k")!;
    assert.deepEqual(kernel.range({ gridDim_x: 3, blockDim_x: 8 }).extents, [24]);
  });

  it("are refused where the launch has axes that the kernel does not see", async () => {
    await assert.rejects(
      run(text("y(threadIdx%x) = 1", "<<<1, dim3(4, 2, 1)>>>")),
      /k is launched with 4x2x1 threads, and uses 1 of these axes/,
    );
  });

  it("have loops in ports only where they are elements", () => {
    const sources = (kernel: string) => [{ file: "k.CUF", text: text(kernel, "<<<(n + 7)/8, 8>>>") }];
    const [{ text: made }] = portSources(sources(`last = n\n${INDEX}\nif (i <= last) y(i) = x(i)`), { targets: ["cpu"] });
    assert.match(made, /do i = 1,n\n\s*last = n\n\s*y\(i\) = x\(i\)/);
    assert.throws(
      () => portSources(sources("y(threadIdx%x) = 1"), { targets: ["cpu"] }),
      /threadidx: the thread's index is read outside of/,
    );
  });
});
