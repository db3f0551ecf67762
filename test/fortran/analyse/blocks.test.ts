import assert from "node:assert/strict";
import { it } from "node:test";
import { blockVariables, renamedVariables, uses, withoutBlocks } from "../../../src/fortran/analyse/blocks.js";
import { fortranText } from "../../../src/fortran/print/units.js";
import { parsed, procedure, statements } from "../parsed.js";

/** The lines of a subroutine after its blocks' variables have become its own. */
function made(lines: string): string[] {
  const file = parsed(`subroutine s\n${lines}\nend subroutine`);
  const [unit] = file.units;
  return fortranText({ ...file, units: [withoutBlocks(unit)] })
    .trim()
    .split("\n")
    .map((line) => line.trim())
    .slice(1, -1);
}

it("variables of blocks get other names where theirs mean something else in the procedure", () => {
  assert.deepEqual(made("real :: x\nblock\nreal :: t\nt = x\nend block"), [
    "real :: x",
    "real :: t",
    "block",
    "real :: t",
    "t = x",
    "end block",
  ]);
  // Declared by the procedure
  assert.deepEqual(made("real :: t\nt = 1\nblock\nreal :: t\nt = 2\nend block"), [
    "real :: t",
    "real :: t_2",
    "t = 1",
    "block",
    "real :: t_2",
    "t_2 = 2",
    "end block",
  ]);
  // A module's variable, and a name that the procedure uses already
  assert.deepEqual(made("t = t_2\nblock\nreal :: t\nt = 2\nend block"), [
    "real :: t_3",
    "t = t_2",
    "block",
    "real :: t_3",
    "t_3 = 2",
    "end block",
  ]);
  // Two blocks
  assert.deepEqual(made("block\nreal :: t\nt = 1\nend block\nblock\nreal :: t\nt = 2\nend block"), [
    "real :: t_2",
    "real :: t_3",
    "block",
    "real :: t_2",
    "t_2 = 1",
    "end block",
    "block",
    "real :: t_3",
    "t_3 = 2",
    "end block",
  ]);
});

it("names in a tree are counted and renamed, those of components not", () => {
  const body = statements("type(o) :: a\ninteger :: k\ndo k = 1, 3\na%k = k + a%b\nend do");
  assert.equal(uses(body, "k"), 2);
  assert.equal(uses(body, "a"), 2);
  assert.equal(uses(body, "c"), 0);
  const text = JSON.stringify(renamedVariables(body, "k", "n"));
  assert.equal(uses(JSON.parse(text), "n"), 2);
  assert.equal(text.match(/"name":"k"/g)?.length, 1);
  assert.deepEqual([...blockVariables(procedure("subroutine s\nblock\nreal :: x, y\nx = y\nend block\nend subroutine").body)], ["x", "y"]);
});
