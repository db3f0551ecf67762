import assert from "node:assert/strict";
import { test } from "node:test";
import { fileTable } from "../../../apps/navier-stokes/results/text-table.js";

const columns = new Map([
  ["y", [0.1, 1 / 3]],
  ["rho_u", [-2, Number.NaN]],
]);

test("tables have notes and names as comments, and a row for each place", () => {
  const lines = fileTable("a.dat", columns, ["two places"]).split("\n");
  assert.equal(lines[0], "# two places");
  assert.deepEqual(lines[1].trim().split(/\s+/), ["#", "y", "rho_u"]);
  assert.deepEqual(lines[2].trim().split(/\s+/), ["1.0000000000e-1", "-2.0000000000e+0"]);
  assert.deepEqual(lines[3].trim().split(/\s+/), ["3.3333333333e-1", "NaN"]);
  assert.equal(lines.length, 5);
});

test("CSV has names and all digits", () => {
  assert.equal(fileTable("a.csv", columns, ["two places"]), `y,rho_u\n0.1,-2\n${1 / 3},NaN\n`);
});
