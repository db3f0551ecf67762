/* Clauses of parallel loops: reductions, and what becomes of variables that iterations have for themselves. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fortran, portSources } from "../../src/fortran/index.js";
import { compareWithGfortran, moduleOf, needsGfortran } from "./gfortran.js";

const inputs = {
  x: Float64Array.from({ length: 12 }, (_, n) => Math.sin(n * 1.7) * 3),
  k: Int32Array.from({ length: 12 }, (_, n) => ((n * 7) % 11) - 3),
};

const loop = (name: string, before: string, directive: string, body: string, behind = ""): string => `
  subroutine ${name}(n, x, k, y)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), s, w(0:2)
    integer :: k(n), i, j, m
    logical :: q
    ${before}
    ${directive}
    do i = 1, n
      ${body}
    end do
    ${behind}
  end subroutine`;

const SAME: Record<string, string> = {
  bits_of_all: loop("bits_of_all", "m = -1", "!$acc parallel loop reduction(iand: m)", "m = iand(m, k(i) + 8)", "y(1) = m"),
  bits_of_any: loop("bits_of_any", "m = 64", "!$omp parallel do reduction(ior: m)", "m = ior(k(i), m)", "y(1) = m"),
  bits_in_turn: loop("bits_in_turn", "m = 5", "!$acc parallel loop reduction(ieor: m)", "m = ieor(m, k(i))", "y(1) = m"),
  subtracted: loop("subtracted", "s = 5", "!$omp parallel do reduction(-: s)", "s = s - k(i)", "y(1) = s"),
  without_clause: loop("without_clause", "m = 5", "!$acc parallel loop", "m = ieor(m, k(i))", "y(1) = m"),
  all_alike: loop("all_alike", "q = .true.", "!$acc parallel loop reduction(.eqv.: q)", "q = q .eqv. x(i) > 0", "y(1) = merge(1, 2, q)"),
  in_turn: loop("in_turn", "q = .true.", "!$acc parallel loop reduction(.neqv.: q)", "q = (x(i) > 1) .neqv. q", "y(1) = merge(1, 2, q)"),
  first_array: loop("first_array", "w = [1, 2, 3]", "!$omp parallel do firstprivate(w)", "w(0) = x(i)\ny(i) = w(0) + w(1)*w(2)"),
  first_scalar: loop("first_scalar", "s = 2", "!$acc parallel loop firstprivate(s)", "y(i) = s + x(i)"),
  parts: loop("parts", "", "!$acc parallel loop private(w(0:2)) copyout(y(1:n))", "w = x(i)\nw(1) = 2\ny(i) = sum(w)"),
  last_unread: loop("last_unread", "", "!$omp parallel do lastprivate(s)", "s = 2*x(i)\ny(i) = s", "s = 1\ny(1) = s"),
  around: `
  subroutine around(n, x, k, y)
    integer, intent(in) :: n
    real(8) :: x(n), y(n), w(2), v(2), s
    integer :: k(n), i, j
    s = 1
    !$omp parallel private(w, v, j) reduction(+: s)
    v = 3
    do j = 1, 2
      !$omp do
      do i = 1, n
        w(1) = x(i)
        w(2) = k(i)
        y(i) = w(1)*w(2)*j + v(1)
        s = s + w(2)
      end do
      !$omp end do
    end do
    !$omp end parallel
    y(1) = s
  end subroutine`,
};

describe("clauses", needsGfortran, () => {
  it("have gfortran's meaning", async () => {
    await compareWithGfortran(new Map(Object.entries(SAME)), inputs, ["js", "wasm", "native"]);
  });

  const LOST: Record<string, string> = {
    "a scalar that is no reduction": loop("a", "s = 1", "!$acc parallel loop", "s = s*0.5d0 + x(i)", "y(1) = s"),
    "a scalar that all iterations assign": loop("a", "", "!$acc parallel loop copyout(s)", "s = x(i)", "y(1) = s"),
    "a scalar that threads share": loop("a", "", "!$omp parallel do", "m = i", "y(1) = m"),
    "a scalar that an iteration reads first": loop("a", "s = 1", "!$omp parallel do lastprivate(s)", "y(i) = s\ns = x(i)", "y(1) = s"),
    "a scalar that the next step reads": loop("a", "do j = 1, 3\ny(j) = s", "!$omp parallel do", "s = x(i)", "end do"),
    "a scalar that an open loop assigns": loop("a", "", "!$acc kernels loop", "if (x(i) > 0) s = x(i)", "y(1) = s"),
  };
  for (const [name, text] of Object.entries(LOST))
    it(`are refused where a kernel would lose ${name}`, () => {
      assert.throws(
        () => fortran(moduleOf([text]), { file: "a.F90" }),
        /a\.F90:\d+:\d+: \w: the value that iterations leave in it is read after the loop \(name it in a reduction clause/,
      );
    });

  const UNKNOWN: Record<string, [text: string, problem: RegExp]> = {
    "the last value of the loop's variable": [
      loop("a", "", "!$omp parallel do lastprivate(i)", "y(i) = x(i)", "y(1) = i"),
      /i: the variable of a parallel loop is read after the loop \(assign it after the loop\)/,
    ],
    "the last value of an array": [
      loop("a", "", "!$omp parallel do lastprivate(w)", "w = x(i)\ny(i) = w(1)", "y(1) = w(1)"),
      /w: the array of the last iteration is read after the loop/,
    ],
    "a value that grows by steps": [
      loop("a", "m = 3", "!$omp parallel do linear(m: 2)", "y(i) = m\nm = m + 2"),
      /linear: its variable changes from iteration to iteration \(compute it from the loop's variable\)/,
    ],
  };
  for (const [name, [text, problem]] of Object.entries(UNKNOWN))
    it(`are refused where a kernel would not know ${name}`, () => {
      assert.throws(() => fortran(moduleOf([text]), { file: "a.F90" }), problem);
      for (const target of ["openmp", "openmp-target"] as const)
        assert.throws(() => portSources([{ file: "a.F90", text: moduleOf([text]) }], { targets: [target] }), problem);
    });
});
