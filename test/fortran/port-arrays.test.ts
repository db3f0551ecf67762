/* Arrays of a procedure in its parallel loops: which all iterations share, and which each has for itself; in kernels and in ports. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fortran, portSources } from "../../src/fortran/index.js";
import { f64, open } from "../../src/index.js";

const subroutine = (body: string): string => `
subroutine s(n, x)
  integer, intent(in) :: n
  real(8) :: x(n)
  real(8) :: t(n), w(3), v(3)
  real(8), allocatable :: u(:)
  real(8) :: r
  integer :: i, j
  ${body}
end subroutine`;
const directives = (text: string, target: "openmp" | "openmp-target"): string[] =>
  portSources([{ file: "a.f90", text }], { targets: [target] })[0]
    .text.split("\n")
    .map((line) => line.trim())
    .filter((line) => line.startsWith("!$omp"));

async function ran(text: string): Promise<number[]> {
  const device = await open("js");
  const x = device.from(f64, [1, 2, 3]);
  await fortran(text).routine("s").run(device, { n: 3, x });
  const found = [...(await device.queue.read(x))];
  await device.close();
  return found;
}

describe("arrays of a procedure", () => {
  for (const [directive, clause] of [
    ["!$acc parallel loop", "private(w)"],
    ["!$omp parallel do", "private(w)"],
  ])
    it(`${directive}: are shared, whatever allocates them, but for those that a clause names`, async () => {
      const text = subroutine(`allocate(u(n))
  ${directive} ${clause}
  do i = 1, n
    w(1) = x(i)
    t(i) = 2*w(1)
    u(i) = 3*x(i)
  end do
  ${directive}
  do i = 1, n
    x(i) = t(i) + u(i)
  end do`);
      assert.deepEqual(await ran(text), [5, 10, 15]);
      assert.deepEqual(directives(text, "openmp"), Array(2).fill("!$omp parallel do default(firstprivate) shared(x,t,u)"));
      assert.deepEqual(directives(text, "openmp-target"), [
        "!$omp target teams distribute parallel do collapse(1) map(tofrom:x,t,u) private(w)",
        "!$omp target teams distribute parallel do collapse(1) map(tofrom:x,t,u)",
      ]);
    });

  it("are each iteration's own in do concurrent where all assign the same elements, and begin with what they held", async () => {
    const text = subroutine(`v = 2
  do concurrent (i = 1:n)
    w(:) = x(i)
    do j = 2, 3
      w(j) = w(j-1)*v(j)
    end do
    v(1) = w(3)
    t(i) = v(1) + v(2)
  end do
  x = t`);
    assert.deepEqual(fortran(text).kernels.get("s")!.races(), []);
    assert.deepEqual(await ran(text), [6, 10, 14]);
    assert.deepEqual(directives(text, "openmp"), ["!$omp parallel do default(firstprivate) shared(x,t)"]);
    assert.deepEqual(directives(text, "openmp-target"), [
      "!$omp target teams distribute parallel do collapse(1) map(tofrom:x,t) firstprivate(w,v)",
    ]);
  });

  it("are shared in do concurrent where they are read behind it", async () => {
    const text = subroutine(
      "do concurrent (i = 1:3)\n  w(i) = i\nend do\ndo concurrent (i = 1:n, x(i) > 2)\n  v(1) = i\nend do\nx = w*v(1)",
    );
    assert.deepEqual(await ran(text), [3, 6, 9]);
    assert.match(directives(text, "openmp")[1], /shared\(x,v\)/);
  });

  it("are named in `local` and `local_init`", () => {
    const text = subroutine("do concurrent (i = 1:n) local(w) local_init(v)\n  w(1) = v(1)\n  v(i) = 1\n  x(i) = w(1)\nend do");
    assert.deepEqual(directives(text, "openmp-target"), [
      "!$omp target teams distribute parallel do collapse(1) map(tofrom:x) private(w) firstprivate(v)",
    ]);
  });

  it("and scalars that a loop leaves for what follows come back in ports, or are refused", () => {
    const text = (clause: string): string => subroutine(`!$omp parallel do ${clause}\n  do i = 1, n\n    r = x(i)\n  end do\n  x(1) = r`);
    assert.deepEqual(directives(text("lastprivate(r)"), "openmp"), ["!$omp parallel do default(firstprivate) shared(x) lastprivate(r)"]);
    assert.throws(() => directives(text(""), "openmp"), /r: the value that iterations leave in it is read after the loop/);
    assert.equal(portSources([{ file: "a.f90", text: text("") }], { targets: ["cpu"] }).length, 1);
  });
});
