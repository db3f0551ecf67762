/* Loops whose iterations may need each other: where a directive leaves that open, and where it wants their order. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fortran, portSources } from "../../src/fortran/index.js";
import { portCppSources } from "../../src/fortran/port/cpp/sources.js";
import { f64, open } from "../../src/index.js";

const subroutine = (body: string): string => `
subroutine s(n, x, y)
  integer, intent(in) :: n
  real(8) :: x(n), y(n)
  real(8) :: t
  integer :: i, k
  ${body}
end subroutine`;
const loop = (directives: string, statements: string, end = ""): string =>
  subroutine(`${directives}\n  do i = 2, n\n    ${statements}\n  end do\n  ${end}`);

async function ran(text: string, n = 4): Promise<number[]> {
  const device = await open("js");
  const x = device.from(
    f64,
    Array.from({ length: n }, (_, i) => i + 1),
  );
  await fortran(text)
    .routine("s")
    .run(device, { n, x, y: device.array(f64, n) });
  const found = [...(await device.queue.read(x))];
  await device.close();
  return found;
}
const ported = (text: string): string => portSources([{ file: "a.f90", text }], { targets: ["openmp"] })[0].text;

const NEEDS = "x(i) = x(i) + x(i-1)";
const KERNELS: Readonly<Record<string, string>> = { "!$acc kernels": "!$acc end kernels", "!$acc kernels loop": "" };

describe("loops of `kernels`", () => {
  for (const [directive, end] of Object.entries(KERNELS)) {
    it(`${directive}: are refused where an element may be another iteration's`, () => {
      for (const statement of [NEEDS, "x(n) = i", "x(int(y(i))) = i"])
        assert.throws(
          () => fortran(loop(directive, statement, end)),
          /:7:\d+: kernels: x: iterations may read values .*`!\$acc loop independent`/,
        );
      assert.throws(
        () => fortran(loop(directive, "t = t*0.5\nx(i) = t", end)),
        /kernels: t: iterations may read values that other iterations write to it/,
      );
    });

    it(`${directive}: are parallel where none is, or that is declared`, () => {
      assert.equal(fortran(loop(directive, "t = 2*x(i)\nx(i) = t", end)).kernels.size, 1);
      const independent = directive === "!$acc kernels" ? `${directive}\n!$acc loop independent` : `${directive} independent`;
      assert.equal(fortran(loop(independent, "x(int(y(i))) = i", end)).kernels.size, 1);
    });

    it(`${directive}: stay in order in ports`, () => {
      assert.doesNotMatch(ported(loop(directive, NEEDS, end)), /omp/);
      assert.throws(() => portCppSources([{ file: "a.f90", text: loop(directive, NEEDS, end) }], { targets: ["hip"] }), /kernels: x/);
    });
  }

  it("are parallel in ports where they need no order", () => {
    assert.match(ported(loop("!$acc kernels loop", "x(i) = 2*y(i)")), /omp parallel do/);
  });

  it("may hold loops of which the inner one is parallel", async () => {
    const text = subroutine(`!$acc kernels
  !$acc loop seq
  do k = 1, 2
    !$acc loop independent
    do i = 2, n
      x(i) = 2*x(i)
    end do
  end do
  !$acc end kernels`);
    assert.deepEqual(await ran(text), [1, 8, 12, 16]);
    assert.deepEqual(
      fortran(text)
        .kernels.get("s")!
        .lowered.axes.map(({ variable }) => variable),
      ["i"],
    );
  });
});

describe("ordered loops", () => {
  for (const clause of ["ordered", "ordered(1)", "private(k) ordered schedule(static)"])
    it(clause, async () => {
      const text = loop(`!$omp parallel do ${clause}`, `!$omp ordered\n${NEEDS}\n!$omp end ordered`, "!$omp end parallel do");
      assert.deepEqual(await ran(text), [1, 3, 6, 10]);
      assert.equal(fortran(text).kernels.size, 0);
      assert.doesNotMatch(ported(text), /omp/);
    });
});
