/* Variables that constructs have for themselves: what statements in them assign is lost, in runs and in ports. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fortran, portSources, type FortranTarget } from "../../src/fortran/index.js";
import { f64, open } from "../../src/index.js";

/** What the routine s(n, x) leaves in x. */
async function ran(text: string): Promise<number[]> {
  const device = await open("js");
  try {
    const x = device.array(f64, 2);
    await fortran(text, { file: "s.f90" }).routine("s").run(device, { n: 2, x });
    return [...(await device.queue.read(x))];
  } finally {
    await device.close();
  }
}

describe("what a construct has for itself", () => {
  const text = (open: string, close: string, inside = "t = 5"): string => `
subroutine s(n, x)
  integer, intent(in) :: n
  real(8) :: x(n), t, w(3)
  integer :: i
  t = 1
  w = 2
  ${open}
  ${inside}
  x(1) = t
  ${close}
  x(2) = t + 10*w(1)
end subroutine`;
  const OWN: readonly (readonly [open: string, close: string])[] = [
    ["!$omp parallel private(t)", "!$omp end parallel"],
    ["!$omp parallel default(private) shared(x)", "!$omp end parallel"],
    ["!$omp single private(t)", "!$omp end single"],
    ["!$omp target map(x)", "!$omp end target"],
    ["!$acc parallel", "!$acc end parallel"],
    ["!$acc serial", "!$acc end serial"],
  ];

  it("keeps its value through the construct, in runs and ports", async () => {
    for (const [open, close] of OWN) {
      assert.deepEqual(await ran(text(open, close)), [5, 21], open);
      for (const target of ["cpu", "openmp", "openmp-target"] as const)
        assert.match(
          portSources([{ file: "s.f90", text: text(open, close) }], { targets: [target] })[0].text,
          /block\n +real\(8\) :: t_before\n +t_before = t\n +t = 5\n +x\(1\) = t\n +t = t_before\n +end block\n/,
          `${target}: ${open}`,
        );
    }
  });

  it("takes its value along where the construct shares it", async () => {
    for (const [open, close] of [
      ["!$omp parallel", "!$omp end parallel"],
      ["!$omp single", "!$omp end single"],
      ["!$omp target map(x, t)", "!$omp end target"],
      ["!$acc parallel copy(t)", "!$acc end parallel"],
      ["!$acc kernels", "!$acc end kernels"],
    ]) {
      assert.deepEqual(await ran(text(open, close)), [5, 25], open);
      assert.doesNotMatch(portSources([{ file: "s.f90", text: text(open, close) }], { targets: ["cpu"] })[0].text, /t_before/);
    }
  });

  it("is kept in serial loops of ports", () => {
    const loop = (clause: string): string =>
      text(`!$omp parallel do ${clause}`, "", "do i = 1, n\nt = x(i)\nw(1) = t\nx(i) = 2*w(1)\nend do");
    const ported = (clause: string): string => portSources([{ file: "s.f90", text: loop(clause) }], { targets: ["cpu"] })[0].text;
    assert.match(
      ported("private(t, w)"),
      /real\(8\), allocatable :: w_before\(:\)\n +t_before = t\n +w_before = w\n +do i = 1,n\n[^]*t = t_before\n +w = w_before\n/,
    );
    assert.doesNotMatch(ported("lastprivate(t, w)"), /t_before/);
  });

  it("is refused where it is an array that is read afterwards", async () => {
    const arrays = text("!$omp parallel private(w)", "!$omp end parallel", "w(1) = 7");
    await assert.rejects(ran(arrays), /s\.f90:8:9: private\(w\): the construct has it for itself.*\(use another variable inside/);
  });

  const objects = `
module m
  type pair
    real(8) :: a = 2, b = 3
  end type
  real(8) :: total = 1
contains
  subroutine add(v)
    real(8), intent(in) :: v
    total = total + v
  end subroutine
end module
subroutine s(n, x)
  use m, sum => total
  integer, intent(in) :: n
  real(8) :: x(n)
  integer :: i
  type(pair) :: o
  o%a = 9
  !$omp parallel do private(o)
  do i = 1, n
    o%a = i
    x(i) = o%a
  end do
  !$omp parallel do
  do i = 1, n
    if (i == 2) then
      call add(x(i))
      x(1) = sum
    end if
  end do
  x(2) = o%a
end subroutine`;
  const ported = (target: FortranTarget): string => portSources([{ file: "s.f90", text: objects }], { targets: [target] })[0].text;

  it("may be an object", () => {
    assert.match(ported("cpu"), /type\(pair\) :: o_before\n +o_before = o\n[^]*o = o_before\n/);
    assert.match(ported("openmp"), /!\$omp parallel do default\(firstprivate\) shared\(x\)\n/);
    assert.match(ported("openmp-target"), /map\(tofrom:x\) private\(o\)\n/);
  });

  it("is none of what procedures assign by another name", () => {
    assert.match(ported("openmp"), /shared\(x,sum\)\n/);
    assert.match(ported("openmp-target"), /map\(tofrom:x,sum\)\n/);
  });
});
