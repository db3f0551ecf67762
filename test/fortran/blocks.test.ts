/* Kernels of CUDA Fortran whose threads share memory and wait for each other. Results are worked out here, in order. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fortran, RunError } from "../../src/fortran/index.js";
import { f64, i32, open, type Device } from "../../src/index.js";

const module = (body: string): string => `
module m
  implicit none
  integer, parameter :: tile = 8, rows = 2, nx = 16, ny = 24, bs = 32
contains
${body}
end module`;

const TRANSPOSE = module(`
  attributes(global) subroutine k(b, a)
    real(8), intent(out) :: b(ny, nx)
    real(8), intent(in) :: a(nx, ny)
    real(8), shared :: t(tile+1, tile)
    integer :: x, y, j
    x = (blockIdx%x-1) * tile + threadIdx%x
    y = (blockIdx%y-1) * tile + threadIdx%y
    do j = 0, tile-1, rows
      t(threadIdx%x, threadIdx%y+j) = a(x, y+j)
    end do
    call syncthreads()
    x = (blockIdx%y-1) * tile + threadIdx%x
    y = (blockIdx%x-1) * tile + threadIdx%y
    do j = 0, tile-1, rows
      b(x, y+j) = t(threadIdx%y+j, threadIdx%x)
    end do
  end subroutine
  subroutine s(b, a)
    real(8), device :: a(nx, ny), b(ny, nx)
    type(dim3) :: grid, block
    grid = dim3(nx/tile, ny/tile, 1)
    block = dim3(tile, rows, 1)
    call k<<<grid, block>>>(b, a)
  end subroutine`);

const PRODUCT = module(`
  attributes(global) subroutine k(a, b, c, n, m, l)
    real(8) :: a(n, m), b(m, l), c(n, l)
    integer, value :: n, m, l
    real(8), shared :: as(tile, tile), bs_(tile, tile)
    integer :: i, j, kb, kk, tx, ty
    real(8) :: cij
    tx = threadidx%x
    ty = threadidx%y
    i = (blockidx%x-1)*tile + tx
    j = (blockidx%y-1)*tile + ty
    cij = 0
    do kb = 1, m, tile
      as(tx, ty) = 0
      bs_(tx, ty) = 0
      if (i <= n .and. kb+ty-1 <= m) as(tx, ty) = a(i, kb+ty-1)
      if (kb+tx-1 <= m .and. j <= l) bs_(tx, ty) = b(kb+tx-1, j)
      call syncthreads()
      do kk = 1, tile
        cij = cij + as(tx, kk)*bs_(kk, ty)
      end do
      call syncthreads()
    end do
    if (i <= n .and. j <= l) c(i, j) = cij
  end subroutine
  subroutine s(a, b, c, n, m, l)
    integer, intent(in) :: n, m, l
    real(8), device :: a(n, m), b(m, l), c(n, l)
    call k<<<dim3((n+tile-1)/tile, (l+tile-1)/tile, 1), dim3(tile, tile, 1)>>>(a, b, c, n, m, l)
  end subroutine`);

/** Each block sums its part by halves; thread 1 adds it to the total, and stores it. */
const SUM = (size = "(*)"): string =>
  module(`
  attributes(global) subroutine k(x, part, total, n)
    real(8) :: x(n), part(:), total
    integer, value :: n
    real(8), shared :: p${size}
    real(8) :: own, old
    integer :: i, t, half
    t = threadIdx%x
    own = 0
    do i = t + (blockIdx%x-1)*blockDim%x, n, blockDim%x*gridDim%x
      own = own + x(i)
    end do
    p(t) = own
    call syncthreads()
    half = blockDim%x/2
    do while (half >= 1)
      if (t <= half) p(t) = p(t) + p(t+half)
      half = half/2
      call syncthreads()
    end do
    if (t == 1) then
      part(blockIdx%x) = p(1)
      old = atomicadd(total, p(1))
    end if
  end subroutine
  subroutine s(x, part, total, n)
    integer, intent(in) :: n
    real(8), device :: x(n), part(5), total
    call k<<<5, bs, 8*bs>>>(x, part, total, n)
  end subroutine`);

/** A scan of each block, by doubling distances; threads behind the end have gone. */
const SCAN = module(`
  attributes(device) subroutine step(p, t, by)
    integer :: p(bs)
    integer, value :: t, by
    integer :: add
    add = 0
    if (t > by) add = p(t-by)
    call syncthreads()
    p(t) = p(t) + add
    call syncthreads()
  end subroutine
  attributes(global) subroutine k(x, y, n)
    integer :: x(n), y(n)
    integer, value :: n
    integer, shared :: p(bs)
    integer :: i, by, w(2)
    i = (blockIdx%x-1)*blockDim%x + threadIdx%x
    if (i > n) return
    w(2) = i
    p(threadIdx%x) = x(i)
    call syncthreads()
    by = 1
    do
      if (by >= bs) exit
      call step(p, threadIdx%x, by)
      by = 2*by
    end do
    y(w(2)) = p(threadIdx%x)
  end subroutine
  subroutine s(x, y, n)
    integer, intent(in) :: n
    integer, device :: x(n), y(n)
    call k<<<(n+bs-1)/bs, bs>>>(x, y, n)
  end subroutine`);

/** Periodic differences, with a halo that some threads fill. */
const STENCIL = module(`
  attributes(global) subroutine k(f, df)
    real(8), intent(in) :: f(nx, ny)
    real(8), intent(out) :: df(nx, ny)
    real(8), shared :: g(-1:nx+2, 4)
    integer :: i, j, l
    i = threadIdx%x
    j = (blockIdx%x-1)*blockDim%y + threadIdx%y
    l = threadIdx%y
    g(i, l) = f(i, j)
    call syncthreads()
    if (i <= 2) then
      g(i-2, l) = g(nx+i-3, l)
      g(nx+i, l) = g(i+1, l)
    end if
    call syncthreads()
    df(i, j) = g(i+2, l) - 8*g(i-1, l) + 3*g(i-2, l)
  end subroutine
  subroutine s(f, df)
    real(8), device :: f(nx, ny), df(nx, ny)
    call k<<<ny/4, dim3(nx, 4, 1)>>>(f, df)
  end subroutine`);

const count = (n: number): Float64Array => Float64Array.from({ length: n }, (_, at) => ((at * 29) % 17) - 6);

async function on(name: string, test: (device: Device) => Promise<void>): Promise<void> {
  const device = await open(name);
  try {
    await test(device);
  } finally {
    await device.close();
  }
}

for (const name of ["js", "wasm", "native"])
  describe(`threads of blocks share memory on ${name}`, () => {
    it("in a transpose", () =>
      on(name, async (device) => {
        const code = fortran(TRANSPOSE);
        const data = count(16 * 24);
        const [a, b] = [code.array(device, "s", "a", {}, data), code.array(device, "s", "b")];
        await code.routine("s").run(device, { a, b });
        const found = await device.queue.read(b);
        assert.deepEqual(
          [...found],
          Array.from({ length: 16 * 24 }, (_, at) => data[Math.floor(at / 24) + 16 * (at % 24)]),
        );
      }));

    it("in a matrix product whose sizes are no multiples", () =>
      on(name, async (device) => {
        const code = fortran(PRODUCT);
        const [n, m, l] = [13, 21, 10];
        const [x, y] = [count(n * m), count(m * l).map((value) => value * 3 + 1)];
        const a = code.array(device, "s", "a", { n, m }, x);
        const b = code.array(device, "s", "b", { m, l }, y);
        const c = code.array(device, "s", "c", { n, l });
        await code.routine("s").run(device, { a, b, c, n, m, l });
        const expected = Array.from({ length: n * l }, (_, at) => {
          let sum = 0;
          for (let k = 0; k < m; k++) sum += x[(at % n) + n * k] * y[k + m * Math.floor(at / n)];
          return sum;
        });
        assert.deepEqual([...(await device.queue.read(c))], expected);
      }));

    for (const size of ["(*)", "(bs)", "(blockdim%x)", "(0:bs)"])
      it(`in sums by blocks, with ${size}`, () =>
        on(name, async (device) => {
          const n = 1000;
          const x = count(n);
          const part = device.array(f64, 5);
          const { total } = await fortran(SUM(size).replace("p(blockdim%x)", "p(n/8)"))
            .routine("s")
            .run(device, { x: device.from(f64, x), part, n, total: 3 });
          const parts = [0, 1, 2, 3, 4].map((b) =>
            x.filter((_, at) => Math.floor(at / 32) % 5 === b).reduce((sum, value) => sum + value, 0),
          );
          assert.deepEqual([...(await device.queue.read(part))], parts);
          assert.equal(
            total,
            parts.reduce((sum, value) => sum + value, 3),
          );
        }));

    it("in a scan, by a procedure that waits, where threads have gone", () =>
      on(name, async (device) => {
        const n = 75;
        const x = Int32Array.from(count(n));
        const y = device.array(i32, n);
        await fortran(SCAN)
          .routine("s")
          .run(device, { x: device.from(i32, x), y, n });
        let sum = 0;
        assert.deepEqual(
          [...(await device.queue.read(y))],
          [...x].map((value, at) => (sum = (at % 32 ? sum : 0) + value)),
        );
      }));

    it("in a stencil with a halo", () =>
      on(name, async (device) => {
        const code = fortran(STENCIL);
        const data = count(16 * 24);
        const [f, df] = [code.array(device, "s", "f", {}, data), code.array(device, "s", "df")];
        await code.routine("s").run(device, { f, df });
        const at = (i: number, j: number): number => data[16 * j + (i < 0 ? i + 15 : i > 15 ? i - 15 : i)];
        assert.deepEqual(
          [...(await device.queue.read(df))],
          [...data].map((_, n) => {
            const [i, j] = [n % 16, Math.floor(n / 16)];
            return at(i + 2, j) - 8 * at(i - 1, j) + 3 * at(i - 2, j);
          }),
        );
      }));
  });

describe("kernels of blocks", () => {
  it("are written in languages that have teams", async () => {
    for (const target of ["c", "opencl", "sycl", "js", "wgsl"] as const) {
      const { files, refused } = await fortran(PRODUCT.replaceAll("real(8)", "real(4)")).emit(target);
      assert.deepEqual(refused, [], target);
      assert.ok(files.length > 0, target);
    }
  });

  it("are launched by routines", async () => {
    await on("js", async (device) => {
      const code = fortran(SCAN);
      await assert.rejects(
        code.routine("k").run(device, { x: device.array(i32, 4), y: device.array(i32, 4), n: 4 }),
        (error) => error instanceof RunError && /runs over blocks of threads/.test(error.message),
      );
    });
  });

  it("are launched by hand, with the sizes of the launch", () =>
    on("js", async (device) => {
      const code = fortran(TRANSPOSE);
      const kernel = code.kernels.get("k")!;
      const data = count(16 * 24);
      const [a, b] = [code.array(device, "s", "a", {}, data), code.array(device, "s", "b")];
      const sizes = { gridDim_x: 2, gridDim_y: 3, gridDim_z: 1, blockDim_x: 8, blockDim_y: 2, blockDim_z: 1 };
      assert.equal(kernel.teams(sizes).league, 6);
      await device.run(kernel, { ...sizes, a, b }, kernel.teams(sizes));
      assert.deepEqual(
        [...(await device.queue.read(b))],
        Array.from(data, (_, at) => data[Math.floor(at / 24) + 16 * (at % 24)]),
      );
      assert.throws(() => kernel.range(sizes), /k runs over blocks of threads: kernel.teams\(args\)/);
      assert.throws(() => kernel.teams({ gridDim_x: 2 }), new RunError("gridDim_y is missing: the kernel's bounds depend on it"));
      const elements = fortran(
        "subroutine s(x)\nreal(8) :: x(8)\ninteger :: i\n!$acc parallel loop\ndo i = 1, 8\nx(i) = 1\nend do\nend subroutine",
      );
      assert.throws(() => elements.kernels.get("s")!.teams({}), /s runs over elements: kernel.range/);
    }));

  const REFUSED: Record<string, [source: string, why: RegExp]> = {
    "loops that differ between threads": [
      SUM().replace("do while (half >= 1)", "do while (half >= t)"),
      /syncthreads: threads of a block would run a loop with a barrier unequally often/,
    ],
    "bounds that differ between threads": [
      SCAN.replace("w(2) = i", "do by = 1, i\ncall syncthreads()\nend do\nw(2) = i"),
      /syncthreads: threads of a block would run a loop with a barrier unequally often/,
    ],
    "exits of some threads": [
      SCAN.replace("if (by >= bs) exit", "if (by >= bs + i) exit"),
      /syncthreads: (some threads of a block leave a loop|threads of a block would run a loop)/,
    ],
    "warps in step": [SUM("(bs)").replace("real(8), shared ::", "real(8), shared, volatile ::"), /volatile :: p: threads of a warp/],
    "sums of a warp in step": [
      SUM("(bs)").replace("if (t == 1) then", "if (t <= 8) p(t) = p(t) + p(t+8)\nif (t <= 4) p(t) = p(t) + p(t+4)\nif (t == 1) then"),
      /27:\d+: syncthreads: a thread may read a value that another thread writes/,
    ],
    "loops of a warp in step": [
      SUM("(bs)").replace("half = half/2\n      call syncthreads()", "half = half/2"),
      /syncthreads: a thread may read a value that another thread writes/,
    ],
    "neighbours without a barrier": [
      STENCIL.replace("call syncthreads()", ""),
      /syncthreads: a thread may read a value that another thread writes/,
    ],
    "atomic updates of shared memory": [
      SUM("(bs)").replace("if (t == 1) then", "old = atomicadd(p(1), 1.0d0)\nif (t == 1) then"),
      /atomic update: p is shared memory of a block/,
    ],
    "scalars that are shared": [SUM("").replaceAll("p(t)", "p"), /shared :: p: a shared scalar is not supported/],
    "shared arrays of device procedures": [
      SCAN.replace("integer :: add", "integer, shared :: add(1)").replaceAll("add = 0", "add(1) = 0"),
      /shared :: add: only kernels can declare shared memory/,
    ],
    "two arrays in one memory": [
      SUM().replace("real(8) :: own", "real(8), shared :: q(*)\nreal(8) :: own"),
      /shared :: q: it uses the same memory as p/,
    ],
    "barriers outside of kernels": [
      module(
        "subroutine s(x)\nreal(8), device :: x(8)\ninteger :: i\n!$cuf kernel do\ndo i = 1, 8\ncall syncthreads()\nx(i) = 1\nend do\nend subroutine",
      ),
      /call syncthreads: only threads of a block can wait for each other/,
    ],
  };
  for (const [what, [source, why]] of Object.entries(REFUSED)) it(`refuse ${what}`, () => assert.throws(() => fortran(source), why));
});
