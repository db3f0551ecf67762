import assert from "node:assert/strict";
import { it } from "node:test";
import { isAssignedExclusively } from "../../../src/fortran/analyse/sharing.js";
import { statements } from "../parsed.js";

it("a scalar that iterations assign by `critical` or `atomic write` alone is shared", () => {
  const critical = "!$omp critical\ns = s + x(i)\n!$omp end critical";
  const write = "!$omp atomic write\ns = i";
  for (const [lines, expected] of [
    [critical, true],
    ["!$omp critical (one)\nif (i > 2) then\ns = i\nend if\n!$omp end critical (one)", true],
    [write, true],
    [`${write}\n${critical}`, true],
    [`${critical}\ns = 0`, false],
    [`if (i > 1) then\ns = 1\nend if\n${write}`, false],
    ["!$omp atomic update\ns = s + 1", false],
    ["s = 1", false],
    [critical.replaceAll("s", "t").replaceAll("$omp criticalt", "$omp criticals"), false],
    ["x(i) = s", false],
  ] as const)
    assert.equal(isAssignedExclusively("s", statements(`real(8) :: s, t, x(9)\ninteger :: i\n${lines}`)), expected, lines);
});
