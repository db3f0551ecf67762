import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Problems, problemText } from "../../../src/fortran/errors.js";
import { parse } from "../../../src/fortran/parse/index.js";
import { plain } from "../../../src/fortran/port/plain.js";
import type { PortTarget } from "../../../src/fortran/port/targets.js";
import { fortranText } from "../../../src/fortran/print/units.js";

function plainOf(lines: readonly string[], target: PortTarget = "cpu"): { lines: string[]; problems: string[] } {
  const problems = new Problems();
  const made = plain(parse(lines.join("\n"), { file: "a.F90" }, problems), target, problems);
  const text = fortranText(made).trim().split("\n");
  return { lines: text.map((line) => line.trim()), problems: problems.found.map(problemText) };
}
const linesOf = (lines: readonly string[], target?: PortTarget): string[] => {
  const made = plainOf(lines, target);
  assert.deepEqual(made.problems, []);
  return made.lines;
};

describe("Fortran without CUDA", () => {
  it("keeps comments of declarations that are left out, at the end where nothing follows them", () => {
    const declarations = ["integer :: n", "! Last", "!@cuf type(dim3) :: grid"];
    assert.deepEqual(linesOf(["module m", "implicit none", ...declarations, "! End", "end module m"]), [
      "module m",
      "implicit none",
      "integer :: n",
      "! Last",
      "! End",
      "end module m",
    ]);
    const procedure = ["subroutine s()", "end subroutine s"];
    assert.deepEqual(linesOf(["module m", "implicit none", ...declarations, "! Then", "contains", ...procedure, "! End", "end module m"]), [
      "module m",
      "implicit none",
      "integer :: n",
      "! Last",
      "! Then",
      "contains",
      ...procedure,
      "! End",
      "end module m",
    ]);
    assert.deepEqual(linesOf(["module m", "! Last", "!@cuf integer :: k", "contains", ...procedure, "end module m"]), [
      "module m",
      "! Last",
      "contains",
      ...procedure,
      "end module m",
    ]);
    assert.deepEqual(linesOf(["program p", "implicit none", ...declarations, "n = 1", "end program p"]), [
      "program p",
      "implicit none",
      "integer :: n",
      "! Last",
      "n = 1",
      "end program p",
    ]);
    assert.deepEqual(linesOf(["module m", "! First", "!@cuf integer :: k", "integer :: n", "end module m"]), [
      "module m",
      "! First",
      "integer :: n",
      "end module m",
    ]);
  });

  it("has neither modules nor attributes of CUDA, and streams are integers", () => {
    const kernel = ["attributes(global) launch_bounds(64) subroutine k(n)", "integer, value :: n", "end subroutine k"];
    assert.deepEqual(linesOf(kernel), ["subroutine k(n)", "integer, value :: n", "end subroutine k"]);
    const text = ["module m", "use cudafor", "use iso_c_binding", "!@cuf use mine", "real, device, allocatable :: a(:)"];
    assert.deepEqual(
      linesOf([
        ...text,
        "integer(kind=cuda_stream_kind) :: s",
        "real :: b",
        "attributes(managed) :: b",
        "!$acc declare create(b)",
        "save",
        "end module m",
      ]),
      ["module m", "use iso_c_binding", "real, allocatable :: a(:)", "integer :: s", "real :: b", "save", "end module m"],
    );
  });

  it("leaves out what waits for the device, and launches; other calls of CUDA are refused", () => {
    const body = ["! Waits", "istat = cudadevicesynchronize()", "call cudastreamsynchronize(s)", "!@cuf n = 2", "grid = dim3(1, 1, 1)"];
    assert.deepEqual(linesOf(["subroutine s(n)", "integer :: n", ...body, "call k<<<1, 2>>>(n)", "n = 1", "end subroutine s"]), [
      "subroutine s(n)",
      "integer :: n",
      "! Waits",
      "call k(n)",
      "n = 1",
      "end subroutine s",
    ]);
    const { problems } = plainOf([
      "subroutine s(n)",
      "integer :: n",
      "n = cudamalloc(n)",
      "call cudafree(n)",
      "n = cuda(n)",
      "end subroutine s",
    ]);
    assert.deepEqual(
      problems.map((text) => text.split(" is a call")[0]),
      ["a.F90:3:1: cudamalloc:", "a.F90:4:1: cudafree:"],
    );
  });
});
