/* What is wrong with units and blocks is told once, at its place, and what follows is still read. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Problems } from "../../src/fortran/errors.js";
import { parse } from "../../src/fortran/parse/index.js";
import { problemText, statements } from "./parsed.js";

/** Messages without the file's name, and the names of the units that are read. */
function read(text: string): [messages: string[], units: string[]] {
  const problems = new Problems();
  const { units } = parse(text, { file: "a.F90" }, problems);
  return [
    problems.found.map((problem) => problemText(problem).replace(/^a\.F90:/, "")),
    units.flatMap((unit) => [unit.name ?? "", ...unit.procedures.map(({ name }) => `${unit.name}.${name}`)]),
  ];
}

describe("units", () => {
  const cases: readonly [what: string, text: string, messages: string[], units: string[]][] = [
    ["block data without an end", "block data d\ninteger n", ["1:1: block data d: is not closed (add `end block data`)"], ["d"]],
    [
      "an end without a beginning",
      "end subroutine\nsubroutine s\nend subroutine",
      ["1:1: end subroutine: is outside any program unit"],
      ["s"],
    ],
    ["`contains` without a unit", "contains\nsubroutine s\nend subroutine", ["1:1: contains: is outside any program unit"], ["s"]],
    [
      "a statement of a module",
      "module m\ninteger :: n\nn = 1\n! a comment\ncontains\nsubroutine s\nend subroutine\nend module",
      ["3:1: assign: is in a module, outside its procedures"],
      ["m", "m.s"],
    ],
    [
      "a statement between procedures",
      "module m\ncontains\n  n = 1\nsubroutine s\nend subroutine\nend module",
      ["3:3: n = 1: is after `contains`, outside a procedure"],
      ["m", "m.s"],
    ],
    [
      "a module that begins before the one before it ends",
      "module m\ncontains\nsubroutine s\nend subroutine\nmodule n\nend module",
      ["1:1: module m: is not closed (add `end module`)"],
      ["m", "m.s", "n"],
    ],
    [
      "the end of another form",
      "subroutine s\nend function\nfunction f(x)\nreal :: f, x\nf = x\nend subroutine\nsubroutine t\nend",
      ["2:1: end function: closes a subroutine (write `end subroutine`)", "6:1: end subroutine: closes a function (write `end function`)"],
      ["s", "f", "t"],
    ],
    ["the end of another name", "subroutine s\nend subroutine t", ["2:16: t: closes `s` (write `end subroutine s`)"], ["s"]],
    ["words behind an end", "subroutine s\nend subroutine s now", ["2:18: now: the statement should end here"], ["s"]],
    [
      "`use` in a block",
      "subroutine s\nblock\nuse m\nend block\nend subroutine",
      ["3:1: use: is without `only` in a block (list the names, or move it up)"],
      ["s"],
    ],
    [
      "a second else",
      "subroutine s\nif (a) then\nelse\nb = 1\nelse if (c) then\nb = 2\nend if\nend subroutine",
      ["5:1: else if: comes after `else`"],
      ["s"],
    ],
    [
      "a statement before the first case",
      "subroutine s\nselect case (n)\n! a comment\nb = 1\ncase (1)\nend select\nend subroutine",
      ["4:1: assign: comes before the first `case`"],
      ["s"],
    ],
    ["attributes without colons", "subroutine s\nreal, pointer a\nend subroutine", ["2:15: a: `::` is missing"], ["s"]],
    [
      "some sizes of a grid",
      "subroutine s\ncall k<<<(2,*),64>>>(a)\nend subroutine",
      ["2:15: ,: give all sizes of a grid or block, or none"],
      ["s"],
    ],
    ["numbers in other bases", "subroutine s\na = b'101' + z'ff'\nend subroutine", [], ["s"]],
    ["a text behind an operand", "subroutine s\na = bc'x'\nend subroutine", ["2:7: 'x': an operator is missing"], ["s"]],
  ];
  for (const [what, text, messages, units] of cases) it(what, () => assert.deepEqual(read(text), [messages, units]));
});

it("what follows `update`, `wait` and `routine` are clauses, whatever their words", () => {
  for (const word of ["update", "wait"]) {
    const [directed] = statements(`!$acc ${word} data(x)`);
    assert.ok(directed.kind === "directed");
    assert.deepEqual(directed.directive.words, [word]);
    assert.deepEqual(
      directed.directive.clauses.map((clause) => clause.kind === "other" && [clause.name, clause.text]),
      [["data", "x"]],
    );
  }
});
