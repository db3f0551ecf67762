/* CUDA Fortran's atomic functions. Results are whole numbers, counted here in order. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fortran, portSources } from "../../src/fortran/index.js";
import { f64, i32, open } from "../../src/index.js";

const N = 100;
const x = Float64Array.from({ length: N }, (_, n) => ((n * 37) % 41) - 5);

const text = (body: string, args = "x, y, h, n, total, most"): string => `
module m
contains
  attributes(global) subroutine k(x, y, h, n, total, most)
    real(8) :: x(n), y(4), total, most
    integer :: h(4)
    integer, value :: n
    integer :: i, b, istat
    real(8) :: old
    i = (blockIdx%x-1)*blockDim%x + threadIdx%x
    if (i > n) return
    b = mod(i, 4) + 1
    ${body}
  end subroutine
  subroutine s(${args})
    integer, intent(in) :: n
    real(8), device :: x(n), y(4), total, most
    integer, device :: h(4)
    call k<<<(n+15)/16, 16>>>(${args})
  end subroutine
end module`;

const BODY = `istat = atomicAdd(h(b), 1)
    old = atomicmax(y(b), x(i))
    old = atomicsub(total, 2*x(i) - 1)
    old = atomicmin(most, x(i))`;

describe("atomic functions of CUDA Fortran", () => {
  for (const name of ["js", "wasm", "native"])
    it(`update elements and scalars on ${name}`, async () => {
      const device = await open(name);
      try {
        const [y, h] = [device.from(f64, [0, 0, 33, 0]), device.from(i32, [1, 0, 0, 0])];
        const given = { n: N, x: device.from(f64, x), y, h, total: 7, most: 0 };
        const { total, most } = await fortran(text(BODY)).routine("s").run(device, given);
        const of = (b: number): number[] => [...x].filter((_, n) => (n + 1) % 4 === b);
        assert.deepEqual(
          [...(await device.queue.read(y))],
          [0, 1, 2, 3].map((b) => Math.max(b === 2 ? 33 : 0, ...of(b))),
        );
        assert.deepEqual([...(await device.queue.read(h))], [26, 25, 25, 25]);
        assert.equal(
          total,
          x.reduce((sum, value) => sum - (2 * value - 1), 7),
        );
        assert.equal(most, -5);
      } finally {
        await device.close();
      }
    });

  it("are reductions in loops", async () => {
    const source = `
subroutine s(n, x, total)
  integer, intent(in) :: n
  real(8), device :: x(n)
  real(8), device :: total
  real(8) :: old
  integer :: i
  !$cuf kernel do <<<*,*>>>
  do i = 1, n
    if (x(i) > 0) old = atomicadd(total, x(i))
  end do
end subroutine`;
    const device = await open("js");
    const { total } = await fortran(source)
      .routine("s")
      .run(device, { n: N, x: device.from(f64, x), total: 1 });
    assert.equal(
      total,
      x.reduce((sum, value) => sum + Math.max(value, 0), 1),
    );
    await device.close();
  });

  it("give the value before where each thread has elements of its own", async () => {
    const device = await open("js");
    const given = { n: N, x: device.from(f64, x), y: device.array(f64, 4), h: device.array(i32, 4), total: 0, most: 0 };
    await fortran(text("old = atomicadd(x(i), 1.0d0)\nold = old + atomicless\nx(i) = old").replace("atomicless", "2"))
      .routine("s")
      .run(device, given);
    assert.deepEqual(
      [...(await device.queue.read(given.x))],
      [...x].map((value) => value + 2),
    );
    await device.close();
  });

  for (const name of ["js", "wasm", "native"])
    it(`work on bits and swap on ${name}`, async () => {
      const source = `
module m
contains
  attributes(global) subroutine k(a, b, c, d, n, every, some, odd)
    integer :: a(n), b(n), c(n), d(n), every, some, odd
    integer, value :: n
    integer :: i, old
    i = (blockIdx%x-1)*blockDim%x + threadIdx%x
    if (i > n) return
    old = atomicand(a(i), 12)
    old = atomicor(b(i), 3)
    old = atomicxor(c(i), i)
    old = atomicexch(d(i), 2*i)
    old = atomicand(every, ior(i, 64))
    old = atomicor(some, i)
    old = atomicxor(odd, i)
  end subroutine
  subroutine s(a, b, c, d, n, every, some, odd)
    integer, intent(in) :: n
    integer, device :: a(n), b(n), c(n), d(n), every, some, odd
    call k<<<(n+15)/16, 16>>>(a, b, c, d, n, every, some, odd)
  end subroutine
end module`;
      const device = await open(name);
      try {
        const numbers = Int32Array.from({ length: N }, (_, n) => 7 * n - 40);
        const arrays = Object.fromEntries(["a", "b", "c", "d"].map((each) => [each, device.from(i32, numbers)]));
        const scalars = await fortran(source)
          .routine("s")
          .run(device, { ...arrays, n: N, every: 255, some: 256, odd: 5 });
        const expected: Record<string, (value: number, i: number) => number> = {
          a: (value) => value & 12,
          b: (value) => value | 3,
          c: (value, i) => value ^ i,
          d: (_, i) => 2 * i,
        };
        for (const [array, of] of Object.entries(expected))
          assert.deepEqual(
            [...(await device.queue.read(arrays[array]))],
            [...numbers].map((value, n) => of(value, n + 1)),
          );
        const all = Array.from({ length: N }, (_, n) => n + 1);
        assert.deepEqual(scalars, {
          every: all.reduce((so, i) => so & (i | 64), 255),
          some: all.reduce((so, i) => so | i, 256),
          odd: all.reduce((so, i) => so ^ i, 5),
        });
      } finally {
        await device.close();
      }
    });

  it("become atomic updates in ports", () => {
    const [port] = portSources([{ file: "k.cuf", text: text("istat = atomicadd(h(b), 1)") }], { targets: ["openmp"] });
    assert.match(port.text, /!\$omp atomic update\n\s*h\(b\) = h\(b\) ?\+ ?1/i);
  });

  const REFUSED: Record<string, [body: string, why: RegExp]> = {
    "a value before that depends on the order": ["istat = atomicadd(h(b), 1)\ny(1) = istat", /h: iterations update elements of it that/],
    "swaps of shared elements by condition": [
      "istat = atomiccas(h(b), 0, 1)",
      /atomiccas: kernels do not support this operation.*atomicadd/,
    ],
    "values before within expressions": ["y(1) = atomicadd(h(b), 1) + 1", /atomicadd: kernels do not support this operation/],
    "bits of shared elements": ["istat = atomicor(h(b), 1)", /h: iterations update elements of it that/],
    "scalars that threads share and assign": ["total = x(i)", /total: threads share it and assign it/],
    "scalars that threads fold and read": ["old = atomicadd(total, 1.0d0)\nx(i) = total", /total: threads share it and assign it/],
    "an element that is also read": ["istat = atomicadd(h(b), 1)\nx(i) = h(1)", /h: iterations update elements of it that/],
  };
  for (const [what, [body, why]] of Object.entries(REFUSED)) it(`refuse ${what}`, () => assert.throws(() => fortran(text(body)), why));
});
