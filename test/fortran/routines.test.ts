/* Routines that are run: host statements and loops in order, arguments and results, on devices. Values were worked out by hand. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { fortran, type FortranOptions } from "../../src/fortran/index.js";
import { f64, i32, open, type Device, type View } from "../../src/index.js";

let devices: Device[] = [];
before(async () => {
  devices = [await open("js"), await open("wasm")];
  for (const device of devices) device.precision = "strict";
});
after(() => Promise.all(devices.map((device) => device.close())));

type Given = Readonly<
  Record<
    string,
    number | boolean | readonly number[] | { i32: readonly number[] } | { shape: readonly number[]; values: readonly number[] }
  >
>;

/** Runs a routine on each device; arrays that it was given come back with the scalars. */
async function ran(text: string, name: string, given: Given, options: FortranOptions = {}): Promise<Record<string, unknown>> {
  const code = fortran(text, { file: "a.F90", ...options });
  const all: Record<string, unknown>[] = [];
  for (const device of devices) {
    const args: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(given)) {
      if (typeof value !== "object") args[key] = value;
      else if ("i32" in value) args[key] = device.from(i32, value.i32);
      else args[key] = "shape" in value ? device.from(f64, value.values, value.shape) : device.from(f64, value);
    }
    const result: Record<string, unknown> = await code.routine(name).run(device, args);
    for (const [key, value] of Object.entries(args))
      if (typeof value === "object") result[key] = [...(await device.queue.read(value as View))];
    all.push(result);
  }
  assert.deepEqual(all[1], all[0]);
  return all[0];
}

describe("reductions", () => {
  const reduced = (directive: string, body: string, end = ""): string => `
subroutine s(n, x, r)
  integer, intent(in) :: n
  real(8) :: x(n), r
  integer :: i
  ${directive}
  do i = 1, n
    ${body}
  end do
  ${end}
end subroutine`;
  const x = [3, -7, 5, 1];
  for (const [directive, end] of [
    ["!$cuf kernel do(1) <<<*,*>>>", ""],
    ["!$acc parallel loop reduction(OP:r)", ""],
    ["!$omp parallel do reduction(OP:r)", "!$omp end parallel do"],
    ["!$omp target teams distribute parallel do reduction(OP:r) map(to: x)", ""],
  ])
    it(`${directive} keeps the value from before`, async () => {
      const run = async (op: string, body: string, r: number) =>
        (await ran(reduced(directive.replace("OP", op), body, end), "s", { n: 4, x, r })).r;
      assert.equal(await run("+", "r = r + x(i)", 10), 12);
      assert.equal(await run("+", "r = r - 2*x(i)", 10), 6);
      assert.equal(await run("+", "if (x(i) > 0) r = x(i) + r", 1), 10);
      assert.equal(await run("max", "r = max(r, x(i))", 4), 5);
      assert.equal(await run("max", "r = max(r, x(i))", 9), 9);
      assert.equal(await run("min", "if (x(i) < r) r = x(i)", 0), -7);
      assert.equal(await run("min", "if (x(i) > 100) r = min(x(i), r)", 50), 50);
      assert.equal(await run("*", "r = r*x(i)", 2), -210);
    });

  it("fold several variables, in loops and branches", async () => {
    const text = `
subroutine s(n, x, total, most, count)
  integer :: n, count, i, j
  real(8) :: x(n), total, most
  !$cuf kernel do <<<*,*>>>
  do i = 1, n
    do j = 1, 2
      total = total + x(i)*j
      if (x(i) > 0) then
        count = count + 1
      end if
    end do
    most = max(most, abs(x(i)))
  end do
end subroutine`;
    const out = await ran(text, "s", { n: 4, x, total: 1, most: 0, count: 100 });
    assert.deepEqual([out.total, out.most, out.count], [7, 7, 106]);
  });

  it("of truth values", async () => {
    const text = `
subroutine s(n, x, q, p)
  integer :: n, i
  real(8) :: x(n)
  logical :: q, p
  !$acc parallel loop reduction(.and.:q) reduction(.or.:p)
  do i = 1, n
    q = q .and. x(i) < 6
    p = p .or. x(i) < -7
  end do
end subroutine`;
    const out = await ran(text, "s", { n: 4, x, q: true, p: false });
    assert.deepEqual([out.q, out.p], [true, false]);
  });

  it("are refused where the variable is used otherwise", () => {
    const text = reduced("!$acc parallel loop reduction(+:r)", "r = r + x(i)\n    x(i) = r");
    assert.throws(() => fortran(text, { file: "a.F90" }), /a\.F90:6:\d+: reduction\(\+: r\): the loop also uses r in another way/);
  });
});

describe("loops of several axes", () => {
  const filled = (before: string, after = ""): string => `
subroutine s(nx, ny, a)
  integer :: nx, ny, i, j
  real(8) :: a(0:nx, -1:ny)
  ${before}
  do j = -1, ny
    do i = 0, nx
      a(i, j) = 10*i + j
    end do
  end do
  ${after}
end subroutine`;
  const expected = [-1, 9, 19, 0, 10, 20, 1, 11, 21, 2, 12, 22];
  const given = { nx: 2, ny: 2, a: { shape: [4, 3], values: Array<number>(12).fill(0) } };
  for (const directive of [
    "!$cuf kernel do(2) <<<*,*>>>",
    "!$acc parallel loop collapse(2)",
    "!$omp parallel do collapse(2) private(i)",
    "! none",
  ])
    it(directive, async () => {
      assert.deepEqual((await ran(filled(directive), "s", given)).a, expected);
    });

  it("do concurrent with a mask, a local variable and a step", async () => {
    const text = `
subroutine s(n, x)
  integer :: n, i, j
  real(8) :: x(n), t
  do concurrent (i = 1:n:2, x(i) > 0) local(t)
    t = x(i)**2
    x(i) = t + 1
  end do
end subroutine`;
    assert.deepEqual((await ran(text, "s", { n: 5, x: [2, 2, -3, 2, 4] })).x, [5, 2, -3, 2, 17]);
  });

  it("a loop without elements is not launched", async () => {
    const text = filled("!$cuf kernel do(2) <<<*,*>>>");
    assert.deepEqual((await ran(text, "s", { ...given, nx: -1, ny: -3, a: [7] })).a, [7]);
  });
});

describe("kernels over threads", () => {
  const text = `
module m
contains
  attributes(global) subroutine k(nx, ny, shift, a)
    integer, value :: nx, ny, shift
    real(8) :: a(nx, ny)
    integer :: i, j
    j = blockdim%y * (blockidx%y - 1) + threadidx%y
    i = blockdim%x * (blockidx%x - 1) + threadidx%x + 1
    if (j > ny .or. i > nx) return
    if (a(i, j) < 0) return
    shift = shift + i
    a(i, j) = a(i, j) + shift
  end subroutine
  attributes(global) subroutine bare(a)
    real(8) :: a(*)
    integer :: i
    i = (blockidx%x - 1) * blockdim%x + threadidx%x
    a(i) = i
  end subroutine
  subroutine host(nx, ny, a, b)
    integer :: nx, ny
    real(8) :: a(nx, ny), b(7)
    call k<<<dim3(1, 1, 1), dim3(8, 8, 1)>>>(nx, ny, 100, a)
    call bare<<<2, 3>>>(b)
  end subroutine
end module`;
  it("cover the box of their guard, and write their own scalars", async () => {
    const unlaunched = text.replace(/^ *call k.*\n/m, "");
    const out = await ran(unlaunched, "k", { nx: 3, ny: 2, shift: 10, a: [1, 1, -1, 1, 1, 1] });
    assert.deepEqual(out.a, [1, 13, -1, 1, 13, 14]);
  });
  it("take the sizes of a launch that does not agree with their guard", async () => {
    const given = { nx: 3, ny: 2, shift: 10, a: [1, 1, -1, 1, 1, 1] };
    const out = await ran(text, "k", { ...given, gridDim_x: 1, gridDim_y: 1, blockDim_x: 1, blockDim_y: 8 });
    assert.deepEqual(out.a, [1, 13, -1, 1, 13, 1]);
    await assert.rejects(ran(text, "k", given), /k runs one element for each thread of its launch: give gridDim_x, blockDim_x, gridDim_y/);
  });
  it("are launched by hosts, without a guard over the whole grid", async () => {
    const out = await ran(text, "host", { nx: 3, ny: 2, a: [1, 1, -1, 1, 1, 1], b: [0, 0, 0, 0, 0, 0, 0] });
    assert.deepEqual(
      [out.a, out.b],
      [
        [1, 103, -1, 1, 103, 104],
        [1, 2, 3, 4, 5, 6, 0],
      ],
    );
  });
});

describe("procedures", () => {
  it("change dummies by value for themselves, in kernels, on the host and in each other", async () => {
    const text = `
module m
contains
  subroutine s(v, r)
    real(8), value :: v
    real(8), intent(out) :: r
    v = v*2
    r = v
  end subroutine
  real(8) function twice(v, k)
    real(8), value :: v
    integer, value :: k
    real(8) :: r
    do while (k > 0)
      call s(v, r)
      v = r
      k = k - 1
    end do
    twice = v
  end function
  subroutine p(n, x, y)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), t
    integer :: i, k
    !$acc parallel loop private(t, k)
    do i = 1, n
      k = 2
      t = x(i)
      call s(t, y(i))
      call s(x(i) + 1, x(i))
      y(i) = 100*y(i) + 10*t + twice(t, k) + k
    end do
    call s(y(1), y(2))
  end subroutine
end module`;
    const { x, y } = await ran(text, "p", { n: 3, x: [1, 2, 3], y: [0, 0, 0] });
    assert.deepEqual(
      [x, y],
      [
        [4, 6, 8],
        [216, 432, 644],
      ],
    );
  });
  it("are called in kernels with arrays, results, and elements as results", async () => {
    const text = `
module m
  implicit none
contains
  attributes(device) subroutine eigen(n, u, m, last)
    integer, value :: n
    real(8) :: u
    real(8), dimension(0:1, -1:0) :: m
    real(8) :: last
    integer :: i
    do i = 0, 1
      m(i, -1) = u + n*i
      m(i, 0) = 2*m(i, -1)
    end do
    last = m(1, 0)
    if (u < 0) return
    last = last + 1
  end subroutine
  attributes(device) function norm(v) result(total)
    real(8) :: v(3), total
    integer :: i
    total = 0
    do i = 1, 3
      if (v(i) > 100) then
        total = -1
        return
      end if
      total = total + v(i)
    end do
  end function
  subroutine s(n, x, y)
    integer :: n, i
    real(8), device :: x(n), y(n)
    real(8) :: e(4), v(3)
    !$cuf kernel do(1) <<<*,*>>>
    do i = 1, n
      call eigen(i, x(i), e, v(2))
      v(1) = e(1)
      v(3) = e(4)
      y(i) = norm(v)
    end do
  end subroutine
end module`;
    const out = await ran(text, "s", { n: 3, x: [1, -2, 60], y: [0, 0, 0] });
    // eigen gives [x, x+i, 2x, 2(x+i)] and 2(x+i), one more unless x < 0.
    assert.deepEqual(out.y, [1 + 5 + 4, -2 + 0 + 0, -1]);
  });

  it("of the host take sections, keywords and module variables, and give scalars back", async () => {
    const text = `
module state
  integer :: steps = 0
  real(8), allocatable :: w(:, :)
end module
module m
  use state, only: steps, field => w
contains
  subroutine fill(n, column, value, total)
    integer, intent(in) :: n
    real(8), intent(inout) :: column(n)
    real(8), intent(in) :: value
    real(8), intent(out) :: total
    integer :: i
    !$cuf kernel do <<<*,*>>>
    do i = 1, n
      column(i) = column(i) + value*i
    end do
    total = column(1) + column(n)
    steps = steps + 1
  end subroutine
  subroutine s(n, many, total)
    integer :: n, many, k
    real(8) :: total, part
    total = 0
    do k = 1, many
      call fill(n, value=10d0*k, column=field(:, k), total=part)
      total = total + part
      if (k == 2) exit
    end do
  end subroutine
end module`;
    const out = await ran(text, "s", { n: 3, many: 5, total: 0, steps: 4, field: { shape: [3, 3], values: [1, 2, 3, 4, 5, 6, 7, 8, 9] } });
    assert.deepEqual(out.field, [11, 22, 33, 24, 45, 66, 7, 8, 9]);
    assert.deepEqual([out.total, out.steps], [11 + 33 + 24 + 66, 6]);
  });

  it("take components of derived types by their names", async () => {
    const text = `
module m
  type box
    integer :: nx, ng
    real(8) :: dx
  end type
contains
  subroutine s(p, a)
    type(box), intent(in) :: p
    real(8), device :: a(1-p%ng:)
    integer :: i
    !$acc parallel loop
    do i = 1-p%ng, p%nx+p%ng
      a(i) = i*p%dx
    end do
  end subroutine
end module`;
    assert.deepEqual((await ran(text, "s", { p_nx: 2, p_ng: 1, p_dx: 0.5, a: [9, 9, 9, 9] })).a, [0, 0.5, 1, 1.5]);
  });
});

describe("statements over arrays", () => {
  const kernel = (body: string): string => `
subroutine s(n, x)
  integer :: n, i, j
  real(8), device :: x(n)
  real(8) :: a(3), b(-1:1), c(3, 2)
  !$cuf kernel do <<<*,*>>>
  do i = 1, n
    a = [1d0, 2d0, 4d0]
    ${body}
  end do
end subroutine`;
  const cases: Readonly<Record<string, number>> = {
    "b = 2*a + 1\nx(i) = b(-1) + b(1)": 12,
    "b = a(3:1:-1)\nx(i) = b(-1)*100 + b(0)*10 + b(1)": 421,
    "a(2:3) = a(1:2)\nx(i) = a(1)*100 + a(2)*10 + a(3)": 112,
    "where (a > 1.5d0)\na = -a\nelsewhere\na = 7\nend where\nx(i) = a(1)*100 + a(2)*10 + a(3)": 676,
    "x(i) = sum(a) + maxval(a)*10 + minval(-a)*100 + dot_product(a, a)*1000": 20647,
    "c = 1\nc(:, 2) = a\nx(i) = sum(c(2:3, 2)) + size(c, 1)*10 + ubound(c, 2)*100": 236,
    "b(:) = merge(a, 0d0, a > 1)\nx(i) = product(a)*10 + count(a > 1) + b(-1)": 82,
    "associate (y => a(2), z => a)\nz(1) = y\nend associate\nx(i) = a(1)": 2,
  };
  for (const [body, value] of Object.entries(cases))
    it(body.replaceAll("\n", "; "), async () => {
      assert.deepEqual((await ran(kernel(body), "s", { n: 2, x: [0, 0] })).x, [value, value]);
    });
});

it("statements of the host read and write small arrays", async () => {
  const text = `
subroutine s(n, x, r)
  integer :: n, i
  real(8) :: x(n), r, local(2)
  local(1) = x(2)
  local(2) = 5
  if (x(1) > 0) then
    x(3) = local(1) + local(2)
  end if
  !$cuf kernel do <<<*,*>>>
  do i = 1, n
    x(i) = x(i) + local(2)
  end do
  r = x(n)/2
end subroutine`;
  const out = await ran(text, "s", { n: 3, x: [1, 2, 3], r: 0 });
  assert.deepEqual([out.x, out.r], [[6, 7, 12], 6]);
});

it("kinds may be given for a module that is not", async () => {
  const text = `
subroutine s(n, x)
  use precision, only: wp
  integer :: n, i
  real(8) :: x(n)
  real(wp) :: t
  !$acc parallel loop
  do i = 1, n
    t = 1.0_wp/3
    x(i) = t
  end do
end subroutine`;
  assert.deepEqual((await ran(text, "s", { n: 1, x: [0] }, { kinds: { wp: "f32" } })).x, [Math.fround(1 / 3)]);
  assert.deepEqual((await ran(text, "s", { n: 1, x: [0] }, { kinds: { wp: "f64" } })).x, [1 / 3]);
});

it("scalars that an iteration leaves alone keep what they had", async () => {
  const text = `
subroutine s(n, x)
  integer :: n, i
  real(8) :: x(n), t
  t = 5
  !$cuf kernel do <<<*,*>>>
  do i = 1, n
    if (x(i) > 0) t = x(i)
    x(i) = t
  end do
end subroutine`;
  assert.deepEqual((await ran(text, "s", { n: 3, x: [1, -2, 3] })).x, [1, 5, 3]);
});

it("arrays of objects have the bounds of their declaration", async () => {
  const text = `
module m
  type part
    real(8) :: w(0:3), v(2,-1:1)
  end type
contains
  subroutine s(n, x, total, wide)
    integer, intent(in) :: n
    real(8) :: x(n), total
    integer :: wide, i
    type(part) :: p
    call fill(p)
    total = sum(p%w) + sum(p%v)
    wide = 10*size(p%w) + size(p%v)
    !$acc parallel loop
    do i = 1, n
      x(i) = p%w(i - 1)
    end do
  end subroutine
  subroutine fill(q)
    type(part), intent(inout) :: q
    integer :: i
    q%w = 2
    !$acc parallel loop
    do i = -1, 1
      q%v(1,i) = i
      q%v(2,i) = 10
    end do
  end subroutine
end module`;
  const { x, total, wide } = await ran(text, "s", { n: 4, x: [0, 0, 0, 0], total: 0, wide: 0 });
  assert.deepEqual([x, total, wide], [[2, 2, 2, 2], 38, 46]);
});

describe("variables of modules", () => {
  const text = `
module a
  implicit none
  real(8), private :: t = 5
contains
  real(8) function timesa(x)
    real(8), intent(in) :: x
    timesa = x*t
  end function
  subroutine seta(x)
    real(8), intent(in) :: x
    t = x
  end subroutine
end module
module b
  implicit none
  real(8), private :: t = 7
contains
  real(8) function timesb(x)
    real(8), intent(in) :: x
    timesb = x*t
  end function
  subroutine setb(x)
    real(8), intent(in) :: x
    t = x
  end subroutine
end module
module c
  use a
  use b
  implicit none
  real(8) :: scale = 1
contains
  real(8) function scaled(x)
    real(8), intent(in) :: x
    scaled = x*scale
  end function
  real(8) function grown(x)
    real(8), intent(in) :: x
    scale = scale + 1
    grown = x*scale
  end function
  subroutine setscale(x)
    real(8), intent(in) :: x
    scale = x
  end subroutine
end module
module d
  use c, only: factor => scale, setscale, scaled
  implicit none
contains
  subroutine other(y, z)
    real(8), intent(out) :: y, z
    real(8) :: scale
    scale = 3
    call setscale(9.0d0)
    y = factor
    factor = 4
    z = scaled(1.0d0) + scale
  end subroutine
end module
subroutine both(y, z)
  use c
  real(8), intent(out) :: y, z
  call seta(11.0d0)
  call setb(13.0d0)
  y = timesa(1.0d0)
  z = timesb(1.0d0)
end subroutine
subroutine local(n, x)
  use c
  integer, intent(in) :: n
  real(8) :: x(n), t
  integer :: i
  call seta(5.0d0)
  t = 100
  !$omp parallel do
  do i = 1, n
    x(i) = timesa(x(i)) + t
  end do
end subroutine
subroutine inside(y, z)
  use c
  real(8), intent(out) :: y, z
  integer :: i
  scale = 2
  y = scaled(3.0d0)
  z = 0
  do i = 1, 3
    scale = scale + i
    z = z + scaled(1.0d0) + 10*turn()
  end do
  scale = 2
  z = z + 1000*grown(1.0d0)
  y = y + 100*scale
contains
  real(8) function turn()
    turn = i
  end function
end subroutine`;

  it("are those of their own module, whatever others are called, and in loops too", async () => {
    const { y, z } = await ran(text, "both", {});
    assert.deepEqual([y, z], [11, 13]);
    assert.deepEqual((await ran(text, "local", { n: 2, x: [1, 2] })).x, [105, 110]);
    assert.equal((await ran(text, "both", {}))["b::t"], 13);
  });

  it("go by other names where they are used by these", async () => {
    const { y, z, scale } = await ran(text, "other", {});
    assert.deepEqual([y, z, scale], [9, 7, 4]);
  });

  it("are seen by functions as they were assigned just before, like variables of hosts", async () => {
    const { y, z, scale } = await ran(text, "inside", {});
    // Factors are 3, 5 and 8 in the loop.
    assert.deepEqual([y, z, scale], [306, 16 + 60 + 3000, 3]);
  });
});

it("functions that launch, keep values or assign others' variables are called before the statement", async () => {
  const text = `
module m
  implicit none
  integer :: count = 0
contains
  real(8) function norm(n, x)
    integer, intent(in) :: n
    real(8), intent(in) :: x(n)
    real(8) :: w(n)
    integer :: i
    w = 2*x
    norm = 0
    !$omp parallel do reduction(+: norm)
    do i = 1, n
      norm = norm + w(i)
    end do
  end function
  integer function counted(k)
    integer, intent(in) :: k
    integer, save :: calls = 0
    calls = calls + 1
    count = count + k
    counted = calls
  end function
end module
subroutine s(n, x, a, b, c, k)
  use m
  implicit none
  integer, intent(in) :: n
  real(8), intent(inout) :: x(n)
  real(8), intent(out) :: a, b
  integer, intent(out) :: c, k
  integer :: i
  a = 1 + 2*norm(n, x)
  x(counted(1)) = norm(2, x(2:3))
  b = 0
  do i = 1, 3
    b = b + norm(n, x)*counted(i)
  end do
  do while (counted(0) < 8)
    b = b + 1
  end do
  c = 0
  if (counted(0) == 0) then
    c = 1
  else if (norm(n, x) + counted(0) > 0) then
    c = counted(0)
  end if
  call take(counted(5) + counted(5))
  k = count
contains
  subroutine take(j)
    integer, intent(in) :: j
    c = 100*c + j
  end subroutine
end subroutine`;
  for (const device of devices) {
    const x = device.from(f64, [1, 2, 3]);
    const { a, b, c, k } = await fortran(text, { file: "a.F90" }).routine("s").run(device, { n: 3, x });
    assert.deepEqual([a, b, c, k], [25, 273, 1125, 17]);
    assert.deepEqual([...(await device.queue.read(x))], [10, 2, 3]);
  }
});

it("OpenMP's functions tell the host of one thread, and are refused in loops", async () => {
  const text = (called: string): string => `
subroutine s(n, x, threads)
  use omp_lib
  integer, intent(in) :: n
  real(8) :: x(n)
  integer, intent(out) :: threads
  integer :: i
  threads = omp_get_max_threads()
  x(1) = omp_get_thread_num() + 2*omp_get_num_threads()
  !$omp parallel do
  do i = 1, n
    x(i) = x(i) + ${called}
  end do
end subroutine`;
  const { x, threads } = await ran(text("1"), "s", { n: 2, x: [0, 0] });
  assert.deepEqual([x, threads], [[3, 1], 1]);
  assert.throws(
    () => fortran(text("omp_get_thread_num()"), { file: "a.F90" }),
    /a\.F90:12:19: omp_get_thread_num: which thread runs an iteration/,
  );
});

it("routines are not run without what was left out of them", async () => {
  const text = `
subroutine outer(n, x)
  integer, intent(in) :: n
  real(8) :: x(n)
  call inner(n, x)
end subroutine
subroutine inner(n, x)
  integer, intent(in) :: n
  real(8) :: x(n)
  character(len=8) :: name
  integer :: i
  read (name, *) i
  !$acc parallel loop
  do i = 1, n
    x(i) = 2*x(i)
  end do
end subroutine`;
  await assert.rejects(ran(text, "outer", { n: 1, x: [1] }, { partial: true }), /inner cannot be run: a\.F90:12:3: read/);
});

it("variables of loops that are read behind them are refused where a launch would not set them", () => {
  const text = (directive: string): string => `
subroutine s(n, x, k)
  integer, intent(in) :: n
  real(8) :: x(n)
  integer, intent(out) :: k
  integer :: i
  ${directive}
  do i = 1, n
    x(i) = 2*x(i)
  end do
  k = i
end subroutine`;
  for (const directive of ["!$cuf kernel do <<<*,*>>>", "!$omp target teams loop"])
    assert.throws(
      () => fortran(text(directive), { file: "a.F90" }),
      /a\.F90:\d+:\d+: i: the variable of a parallel loop is read after the loop/,
    );
});

it("arrays that procedures of one name allocate begin where each says", async () => {
  const module = (name: string, lower: number): string => `
module ${name}
contains
  subroutine fill(n, x)
    integer, intent(in) :: n
    real(8) :: x(n)
    real(8), allocatable :: w(:)
    integer :: i
    allocate (w(${lower}:n))
    !$acc parallel loop
    do i = ${lower}, n
      w(i) = i
    end do
    !$acc parallel loop
    do i = 1, n
      x(i) = x(i) + w(i) + 10*w(${lower})
    end do
  end subroutine
end module`;
  const text = `${module("a", 0)}${module("b", -1)}
subroutine s(n, x)
  use a, only: filla => fill
  use b, only: fillb => fill
  integer, intent(in) :: n
  real(8) :: x(n)
  call filla(n, x)
  call fillb(n, x)
end subroutine`;
  assert.deepEqual((await ran(text, "s", { n: 2, x: [0, 0] })).x, [-8, -6]);
});

it("target regions assign scalars for themselves, unless a clause gives them back", async () => {
  const text = (clause: string): string => `
subroutine s(x, k)
  real(8) :: x(1)
  integer, intent(inout) :: k
  !$omp target ${clause}
  k = k + 16
  x(1) = k
  !$omp end target
  x(1) = x(1) + 100*k
end subroutine`;
  for (const clause of ["", "map(x)", "defaultmap(default)"])
    assert.deepEqual((await ran(text(clause), "s", { x: [0], k: 1 })).x, [117], clause);
  for (const clause of ["map(tofrom: x, k)", "defaultmap(tofrom: scalar)"])
    assert.deepEqual((await ran(text(clause), "s", { x: [0], k: 1 })).x, [1717], clause);
});

it("statements of the host call functions that have arrays", async () => {
  const text = `
subroutine s(k, total)
  integer, intent(in) :: k
  integer, intent(out) :: total
  total = ranked(k)
contains
  integer function ranked(j)
    integer, intent(in) :: j
    integer :: list(3)
    list = [5, 7, 11]
    ranked = list(j)
  end function
end subroutine`;
  assert.equal((await ran(text, "s", { k: 2 })).total, 7);
});

it("local arrays of a declared size exist before a call uses them", async () => {
  const text = `
subroutine fill(w, n)
  integer, intent(in) :: n
  real(8) :: w(n)
  integer :: i
  !$acc parallel loop
  do i = 1, n
    w(i) = 2*i
  end do
end subroutine
subroutine s(n, x)
  integer, intent(in) :: n
  real(8) :: x(n), w(0:n - 1)
  call fill(w, n)
  x = x + w
end subroutine`;
  assert.deepEqual((await ran(text, "s", { n: 3, x: [1, 1, 1] })).x, [3, 5, 7]);
  const unknown = text.replace("real(8) :: x(n), w(0:n - 1)", "real(8) :: x(n)\nreal(8), allocatable :: w(:)");
  await assert.rejects(ran(unknown, "s", { n: 3, x: [1, 1, 1] }), /s: the array w is missing: pass it to run, or allocate it/);
});
