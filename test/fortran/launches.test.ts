/* Kernels of CUDA Fortran with a guard, whose launches may have fewer threads, or more. Results by hand. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fortran, portSources } from "../../src/fortran/index.js";
import { f64, open } from "../../src/index.js";

const PLAIN = "i = (blockIdx%x - 1)*blockDim%x + threadIdx%x\nif (i <= n) y(i) = y(i) + i";

/** A kernel over y(n), whose axes are i and j, and the routine s that launches it. */
const text = (host: string, kernel = PLAIN, declarations = ""): string => `
module m
  use cudafor
  implicit none
  ${declarations}
contains
  attributes(global) subroutine k(y, n, from)
    integer, value :: n, from
    real(8) :: y(n)
    integer :: i, j
    ${kernel.split("\n").join("\n    ")}
  end subroutine
  subroutine s(y, n, d)
    integer, intent(in) :: n, d
    real(8), device :: y(n)
    type(dim3) :: grid, tb
    integer :: c
    ${host.split("\n").join("\n    ")}
  end subroutine
end module
`;

const N = 12;

async function run(source: string): Promise<number[]> {
  const results: number[][] = [];
  for (const name of ["js", "wasm"]) {
    const device = await open(name);
    try {
      const y = device.array(f64, N);
      await fortran(source, { file: "k.CUF" }).routine("s").run(device, { n: N, d: 3, y });
      results.push([...(await device.queue.read(y))]);
    } finally {
      await device.close();
    }
  }
  assert.deepEqual(results[1], results[0]);
  return results[0];
}

const all = (of: (i: number) => number): number[] => Array.from({ length: N }, (_, n) => of(n + 1));
const isPlain = (source: string, partial = false): boolean =>
  fortran(source, { file: "k.CUF", partial })
    .kernels.get("k")!
    .lowered.axes.every(({ variable }) => !variable.startsWith("thread_"));

/** Launches that have fewer threads than the guard lets through: host, results, kernel. */
const SHORT: Record<string, [host: string, expected: number[], kernel?: string]> = {
  "of one block": ["call k<<<1, 4>>>(y, n, 0)", all((i) => (i <= 4 ? i : 0))],
  "of chunks with an offset": [
    "do c = 0, 8, 4\ncall k<<<1, 4>>>(y, n, c)\nend do",
    all((i) => i),
    "i = from + (blockIdx%x - 1)*blockDim%x + threadIdx%x\nif (i > n) return\ny(i) = y(i) + i",
  ],
  "that leave a rest out": ["call k<<<n/5, 5>>>(y, n, 0)", all((i) => (i <= 10 ? i : 0))],
  "by dim3": ["tb = dim3(2, 1, 1)\ngrid = dim3(d, 1, 1)\ncall k<<<grid, tb>>>(y, n, 0)", all((i) => (i <= 6 ? i : 0))],
  "of which one is long enough": ["call k<<<(n + 3)/4, 4>>>(y, n, 0)\ncall k<<<1, 4>>>(y, n, 0)", all((i) => (i <= 4 ? 2 * i : i))],
  "along the second axis": [
    "call k<<<dim3(2, 1, 1), dim3(2, 2, 1)>>>(y, n, 0)",
    all((i) => (i <= 8 ? i : 0)),
    "i = (blockIdx%x - 1)*blockDim%x + threadIdx%x\nj = (blockIdx%y - 1)*blockDim%y + threadIdx%y\nif (i > 4 .or. j > 3) return\n" +
      "y(i + 4*(j - 1)) = i + 4*(j - 1)",
  ],
  "along three axes": [
    "call k<<<dim3(1, 1, 1), dim3(2, 1, 3)>>>(y, n, 0)",
    all((i) => ([1, 2, 5, 6, 9, 10].includes(i) ? i : 0)),
    "i = (blockIdx%x - 1)*blockDim%x + threadIdx%x\nj = (blockIdx%z - 1)*blockDim%z + threadIdx%z\nc = (blockIdx%y - 1)*blockDim%y + threadIdx%y\n" +
      "if (i > 4 .or. j > 3 .or. c > 1) return\ny(i + 4*(j - 1)) = i + 4*(j - 1)",
  ],
  "with an early return within": [
    "call k<<<2, 4>>>(y, n, 2)",
    all((i) => (i > 2 && i <= 8 ? i : 0)),
    "i = (blockIdx%x - 1)*blockDim%x + threadIdx%x\nif (i > n) return\nif (i <= from) return\ny(i) = i",
  ],
};

/** Launches that have a thread for all elements, whatever the sizes. */
const LONG: Record<string, [host: string, kernel?: string, declarations?: string]> = {
  "rounded up by integers": ["call k<<<(n + 255)/256, 256>>>(y, n, 0)"],
  "with a block too many": ["call k<<<n/256 + 1, 256>>>(y, n, 0)"],
  "rounded up by reals": ["tb = dim3(64, 1, 1)\ngrid = dim3(ceiling(real(n)/tb%x), 1, 1)\ncall k<<<grid, tb>>>(y, n, 0)"],
  "by a block that is a variable": ["c = 4*d\ncall k<<<(n + c - 1)/c, c>>>(y, n, 0)"],
  "by components": ["grid%x = (n - 1)/32 + 1\ngrid%y = 1\ngrid%z = 1\ntb = dim3(32, 1, 1)\ncall k<<<grid, tb>>>(y, n, 0)"],
  "of the size of an array": ["call k<<<(size(y) + 7)/8, 8>>>(y, n, 0)"],
  "with constants of the module": ["call k<<<(n + bs - 1)/bs, bs>>>(y, n, 0)", PLAIN, "integer, parameter :: bs = 16"],
  "chosen by a branch": ["c = 32\nif (d > 2) c = 64\ncall k<<<(n + c - 1)/c, c>>>(y, n, 0)"],
  "behind an offset": [
    "call k<<<(n - d + 8)/8, 8>>>(y, n, d)",
    "i = (blockIdx%x - 1)*blockDim%x + threadIdx%x + from - 1\nif (i > n) return\ny(i) = i",
  ],
};

describe("launches of kernels with a guard", () => {
  for (const [name, [host, expected, kernel]] of Object.entries(SHORT))
    it(`${name} run their threads alone`, async () => {
      const source = text(host, kernel).replace("integer :: i, j", "integer :: i, j, c");
      assert.deepEqual(await run(source), expected);
      assert.equal(isPlain(source), false);
    });

  for (const [name, [host, kernel, declarations]] of Object.entries(LONG))
    it(`${name} leave the range plain`, async () => {
      const source = text(host, kernel, declarations);
      assert.ok(isPlain(source));
      assert.deepEqual(
        await run(source),
        all((i) => (name === "behind an offset" && i < 3 ? 0 : i)),
      );
    });

  it("are not taken for long enough where a variable changes between", () => {
    for (const host of [
      "c = n\nc = d\ncall k<<<c, 1>>>(y, n, 0)",
      "c = n\ndo while (c > 3)\ncall k<<<c, 1>>>(y, n, 0)\nc = c - 1\nend do",
      "c = n\nif (d > 2) c = d\ncall k<<<c, 1>>>(y, n, 0)",
      "c = n\ncall elsewhere(c)\ncall k<<<c, 1>>>(y, n, 0)",
      "call k<<<min(n, 65535), 1>>>(y, n, 0)",
    ])
      assert.equal(isPlain(text(host), true), false, host);
  });

  it("are refused with threads that the kernel has no use for", async () => {
    await assert.rejects(run(text("call k<<<dim3(n, 2, 1), 1>>>(y, n, 0)")), /k is launched with 12x2x1 threads, and uses 1 of these axes/);
  });

  it("that are short are refused by ports, which have no launch", () => {
    const short = [{ file: "k.CUF", text: text("call k<<<1, 4>>>(y, n, 0)") }];
    const message =
      /k\.CUF:\d+:\d+: launch of k: it has 4 threads along x, and the guard of k lets \d+ elements through \(n = \d+\) \(launch enough/;
    for (const target of ["cpu", "openmp", "openmp-target"] as const)
      assert.throws(() => portSources(short, { targets: [target] }), message);
    const long = [{ file: "k.CUF", text: text("call k<<<(n + 3)/4, 4>>>(y, n, 0)") }];
    assert.match(portSources(long, { targets: ["cpu"] })[0].text, /do i = 1,n/);
  });

  it("do not matter to `cuf kernel do`, whose loops run to their ends", async () => {
    const loop = (launch: string): string => text(`!$cuf kernel do ${launch}\ndo c = 1, n\ny(c) = y(c) + c\nend do`);
    for (const launch of ["<<<*, *>>>", "<<<1, 4>>>"])
      assert.deepEqual(
        await run(loop(launch)),
        all((i) => i),
      );
  });
});
