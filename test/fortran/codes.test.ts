/* What whole codes have around their loops: modules in any order, procedures outside of them, statements that are not read. Values by hand. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fortran, portSources } from "../../src/fortran/index.js";
import { f64, i32, open } from "../../src/index.js";

const run = async (
  text: string,
  name: string,
  x: readonly number[],
  hosts: readonly { file: string; text: string }[] = [],
): Promise<Record<string, unknown>> => {
  const device = await open("js");
  try {
    const view = device.from(f64, x);
    const result = await fortran(text, { file: "a.F90", hosts }).routine(name).run(device, { n: x.length, x: view });
    return { ...result, x: [...(await device.queue.read(view))] };
  } finally {
    await device.close();
  }
};

const loop = (directive: string, end: string, statement = "x(i) = 2*x(i)"): string => `
  ${directive}
  do i = 1, n
    ${statement}
  end do
  ${end}`;
const scale = (body: string, declarations = "", real = "real(8)"): string => `
subroutine scale(n, x)
  ${declarations}
  integer, intent(in) :: n
  ${real} :: x(n)
  integer :: i, ierr
  ${body}
end subroutine`;

describe("whole codes", () => {
  it("take kinds from modules in files that are given later", async () => {
    const hosts = [
      { file: "b.F90", text: "module kinds\n use base\n integer, parameter :: rp = dp\nend module" },
      { file: "c.F90", text: "module base\n integer, parameter :: dp = selected_real_kind(15, 307)\nend module" },
    ];
    const text = scale(loop("!$acc parallel loop", ""), "use kinds, only: rp", "real(rp)");
    assert.deepEqual((await run(text, "scale", [1, 2], hosts)).x, [2, 4]);
  });

  it("call procedures outside of modules, on the host and in loops", async () => {
    const text = `${scale(`call twice(n, x)${loop("!$omp parallel do", "!$omp end parallel do", "call add(x(i))")}`)}
subroutine add(a)
  real(8) :: a
  a = a + 1
end subroutine
subroutine twice(n, x)
  integer :: n, i
  real(8) :: x(n)
  ${loop("!$acc parallel loop", "")}
end subroutine`;
    assert.deepEqual((await run(text, "scale", [1, 2])).x, [3, 5]);
  });

  it("have loops in functions, whose results come back", async () => {
    const text = `
function dot(n, x) result(s)
  integer, intent(in) :: n
  real(8), intent(in) :: x(n)
  real(8) :: s
  integer :: i
  s = 1
  ${loop("!$omp target teams loop reduction(+:s)", "", "s = s + x(i)*x(i)")}
end function`;
    assert.equal((await run(text, "dot", [1, 2, 3])).s, 15);
  });

  it("write words of directives without a blank", async () => {
    assert.deepEqual((await run(scale(loop("!$omp paralleldo", "!$omp endparalleldo")), "scale", [1])).x, [2]);
  });

  it("have bounds in arrays, of loops and of other arrays", async () => {
    const text = `
subroutine scale(n, x, y)
  integer, intent(in) :: n(2)
  real(8) :: x(0:n(2)), y(:)
  integer :: i
  !$acc parallel loop
  do i = n(1), n(2)
    x(i) = 2*x(i) + y(i)
  end do
end subroutine`;
    const code = fortran(text);
    const device = await open("js");
    const n = device.from(i32, [1, 2]);
    const [x, y] = [device.from(f64, [1, 2, 3]), device.from(f64, [10, 20])];
    await code.routine("scale").run(device, { n, x, y });
    assert.deepEqual([...(await device.queue.read(x))], [1, 14, 26]);
    const kernel = code.kernels.get("scale")!;
    assert.deepEqual(kernel.boundArrays, ["n"]);
    assert.deepEqual(kernel.range({ n: [1, 2] }).extents, [2]);
    assert.throws(() => kernel.range({ n, x, y }), /a bound is an element of n: give its values/);
    await device.close();
  });

  it("begin variables with values, and keep those of procedures from call to call", async () => {
    const text = `
module m
  real(8) :: g = 2
contains
  subroutine scale(n, x, calls)
    integer :: n
    real(8) :: x(n)
    integer, intent(out) :: calls
    integer, save :: before = 10
    integer :: i, more
    before = before + 1
    call count(more)
    calls = before + more
    !$acc parallel loop
    do i = 1, n
      x(i) = g*x(i) + shifted(x(i))
    end do
  end subroutine
  subroutine count(c)
    integer, parameter :: one = 1
    integer :: c, times
    save
    times = times + one
    c = times
  end subroutine
  function shifted(a) result(r)
    real(8) :: a, r
    real(8) :: by = 100, w(2) = [0.25d0, 0.5d0]
    r = by + a*w(2)
  end function
end module`;
    const code = fortran(text);
    const device = await open("js");
    for (const calls of [12, 14]) {
      const x = device.from(f64, [2, 4]);
      assert.equal((await code.routine("scale").run(device, { n: 2, x })).calls, calls);
      assert.deepEqual([...(await device.queue.read(x))], [105, 110]);
    }
    await device.close();
    const changing = text.replace("r = by", "by = by + 1\nr = by");
    assert.throws(() => fortran(changing), /by: it keeps its value between calls, which kernels cannot do/);
  });

  it("name a reduction in directives of OpenACC and of OpenMP", async () => {
    const text = `
subroutine total(n, x, s)
  integer :: n, i
  real(8) :: x(n)
  real(8), intent(out) :: s
  s = 1
  !$acc parallel loop reduction(+:s)
  !$omp parallel do reduction(+:s)
  do i = 1, n
    s = s + x(i)
  end do
end subroutine`;
    assert.deepEqual(await run(text, "total", [1, 2, 3]), { n: 3, s: 7, x: [1, 2, 3] });
    assert.equal(fortran(text).kernels.get("total")!.lowered.outcomes.length, 1);
  });

  it("end directives of OpenACC and of OpenMP in either order", async () => {
    const text = scale(`!$acc data copy(x)
  !$omp target data map(tofrom: x)
  !$acc parallel loop
  !$omp target teams distribute parallel do
  do i = 1, n
    x(i) = 2*x(i)
  end do
  !$acc end parallel loop
  !$omp end target teams distribute parallel do
  !$acc kernels
  !$omp target
  x(1) = 7
  !$acc end kernels
  !$omp end target
  !$acc end data
  !$omp end target data`);
    assert.deepEqual((await run(text, "scale", [1, 5])).x, [7, 10]);
    const [port] = portSources([{ file: "a.f90", text }], { targets: ["openmp"] });
    assert.match(port.text, /omp parallel do/);
    assert.throws(() => fortran(text.replace("!$omp end target\n", "")), /!\$omp target: is not closed/);
  });

  it("have a block of `kernels` behind a directive of OpenMP", async () => {
    const text = scale(`!$omp parallel do private(i)
  !$acc kernels
  do i = 1, n
    x(i) = 2*x(i)
  end do
  !$acc end kernels
  !$omp end parallel do`);
    assert.deepEqual((await run(text, "scale", [1, 5])).x, [2, 10]);
    assert.match(portSources([{ file: "a.f90", text }], { targets: ["openmp"] })[0].text, /omp parallel do .*\n *do i = 1,n/);
    // Its end may be all that the preprocessor leaves.
    const ended = text.replace("!$omp parallel do private(i)", "");
    assert.doesNotMatch(portSources([{ file: "a.f90", text: ended }], { targets: ["openmp"] })[0].text, /omp/);
  });

  it("declare what loops call in front of it", async () => {
    const text = `module m
contains
  ! A loop
  !$acc routine(twice) seq
  !$omp declare target(twice)
  real(8) function twice(t)
    real(8), intent(in) :: t
    twice = 2*t
  end function
${scale(loop("!$acc parallel loop", "", "x(i) = twice(x(i))"))}
end module`;
    assert.deepEqual((await run(text, "scale", [1, 5])).x, [2, 10]);
    assert.match(portSources([{ file: "a.f90", text }], { targets: ["openmp"] })[0].text, /! A loop\n *real\(8\) function twice/);
  });

  it("have procedures in files that they include", async () => {
    const text = 'module m\ncontains\n#include "scale.f90"\nend module';
    const include = (name: string): string | undefined => (name === "scale.f90" ? scale(loop("!$acc parallel loop", "")) : undefined);
    const code = fortran(text, { file: "m.f90", include });
    assert.deepEqual([code.routines, [...code.kernels.keys()]], [["scale"], ["scale"]]);
  });

  it("have procedures that C calls", async () => {
    const text = scale(loop("!$acc parallel loop", "")).replace("(n, x)", '(n, x) bind(c, name="scale_it")');
    assert.deepEqual((await run(text, "scale", [1, 5])).x, [2, 10]);
    const [port] = portSources([{ file: "a.f90", text }], { targets: ["cpu"] });
    assert.match(port.text, /^subroutine scale\(n, x\) bind\(c, name="scale_it"\)$/m);
    const result = "function f(x) result(y) bind(c)\n real(8), value :: x\n real(8) :: y\n y = x\nend function";
    assert.match(portSources([{ file: "a.f90", text: result }], { targets: ["cpu"] })[0].text, /result\(y\) bind\(c\)/);
  });

  it("fold by functions of one type", async () => {
    const text = `
subroutine most(n, x, s, t)
  integer :: n, i
  real(8) :: x(n)
  real(8), intent(out) :: s, t
  s = 2
  t = 2
  !$omp parallel do reduction(max:s)
  do i = 1, n
    s = dmax1(s, x(i))
    t = dmin1(x(i), t)
  end do
end subroutine`;
    assert.deepEqual(await run(text, "most", [1, 3, 2]), { n: 3, s: 3, t: 1, x: [1, 3, 2] });
  });

  it("assign whole arrays in kernels", async () => {
    assert.deepEqual((await run(scale("!$acc kernels\n  x = 2*x\n  !$acc end kernels"), "scale", [1, 5])).x, [2, 10]);
  });

  it("write to arrays by other names", async () => {
    const loops = loop("!$acc parallel loop", "", "associate (y => x(1:n))\n y(i) = 2*y(i)\n end associate");
    const host = "associate (z => x(2:n))\n z(1) = 7\n end associate";
    assert.deepEqual((await run(scale(`${loops}\n${host}`), "scale", [1, 5, 6])).x, [2, 7, 12]);
  });

  it("ask whether memory was had", async () => {
    const body = `allocate(w(n), stat=ierr)
  if (ierr /= 0) x(1) = -1
  ${loop("!$acc parallel loop", "", "w(i) = x(i)")}
  ${loop("!$acc parallel loop", "", "x(i) = w(i) + 1")}
  deallocate(w, stat=ierr)
  if (ierr /= 0) x(1) = -2`;
    assert.deepEqual((await run(scale(body, "", "real(8), allocatable :: w(:)\n  real(8)"), "scale", [1, 5])).x, [2, 6]);
  });
});

describe("partial", () => {
  const text = `module m
contains
  subroutine bad(n, x)
    integer :: n, i
    real(8) :: x(n)
    n = = 2
    ${loop("!$acc parallel loop", "")}
  end subroutine
  subroutine good(n, x)
    integer :: n, i
    real(8) :: x(n)
    ${loop("!$acc parallel loop", "")}
  end subroutine
  subroutine host(n, x)
    integer :: n, i
    real(8) :: x(n)
    call bad(n, x)
    if (unknown > 0) then
      ${loop("!$acc parallel loop", "")}
    end if
  end subroutine
end module`;

  it("leaves out procedures with statements that cannot be read, and what calls them", () => {
    const code = fortran(text, { partial: true });
    assert.deepEqual(code.routines, ["good"]);
    assert.deepEqual(
      code.problems.map(({ construct }) => construct),
      ["=", "call bad", "unknown"],
    );
    assert.throws(() => fortran(text), /program\.F90:6/);
  });

  it("has the loops of a routine whose host's part is refused", () => {
    assert.deepEqual([...fortran(text, { partial: true }).kernels.keys()], ["good", "host"]);
  });

  it("leaves out loops whose clauses are wrong", () => {
    const wrong = text.replace("n = = 2", "real(8) :: s").replace("!$acc parallel loop", "!$acc parallel loop reduction(+:s)");
    const code = fortran(wrong.replace("do i = 1, n", "do i = 1, n\n      s = x(i)"), { partial: true });
    assert.deepEqual([...code.kernels.keys()], ["good", "host"]);
    assert.match(code.problems[0].why, /the loop also uses s in another way/);
  });
});

describe("programs", () => {
  const program = (host: string): string => `program main
  implicit none
  integer, parameter :: n = 6
  integer :: i
  real(8) :: x(n), total
  ${host}
  !$acc parallel loop
  do i = 1, n
    x(i) = i
  end do
  call twice()
  total = 0
  !$acc parallel loop reduction(+:total)
  do i = 1, n
    total = total + x(i)
  end do
  if (total /= 42) error stop "wrong sum"
contains
  subroutine twice()
    !$acc parallel loop
    do i = 1, n
      x(i) = 2*x(i)
    end do
  end subroutine
end program`;

  it("have loops, and run", async () => {
    const code = fortran(program(""));
    assert.deepEqual([...code.kernels.keys()], ["main#1", "main#2", "twice"]);
    const device = await open("js");
    await code.routine("main").run(device, {});
    await assert.rejects(fortran(program("").replace("42", "43")).routine("main").run(device, {}), /:17: the program stops/);
    await device.close();
  });

  it("have loops where the rest cannot be run", async () => {
    const code = fortran(program("call mpi_init(i)"));
    assert.equal(code.kernels.size, 3);
    const device = await open("js");
    await assert.rejects(code.routine("main").run(device, {}), /main cannot be run: .*call mpi_init: the procedure is unknown/);
    await device.close();
  });
});
