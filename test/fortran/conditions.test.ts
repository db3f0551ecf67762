/* What `#if` takes, and lines around directives of the preprocessor. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { kindBytes, readSymbols } from "../../src/fortran/analyse/symbols.js";
import { Problems } from "../../src/fortran/errors.js";
import { conditionValue } from "../../src/fortran/text/condition.js";
import { parsed, problemsOf, statements } from "./parsed.js";

const MACROS = new Map([
  ["ONE", "1"],
  ["FOUR", " 4 "],
  ["TEXT", "abc"],
  ["EMPTY", ""],
]);

describe("conditions of the preprocessor", () => {
  const values: Readonly<Record<string, number>> = {
    "0 || 0": 0,
    "0 || 2": 1,
    "3 || 0": 1,
    "2 && 0": 0,
    "0 && 2": 0,
    "2 && 3": 1,
    "1 || 0 && 0": 1,
    "2 == 2": 1,
    "2 == 3": 0,
    "2 != 2": 0,
    "2 != 3": 1,
    "1 < 2": 1,
    "2 < 2": 0,
    "2 <= 2": 1,
    "3 <= 2": 0,
    "3 > 2": 1,
    "2 > 2": 0,
    "2 >= 2": 1,
    "1 >= 2": 0,
    "1 == 2 < 3": 1,
    "1 < 1 + 1": 1,
    "7 - 2 - 1": 4,
    "7 - (2 - 1)": 6,
    "2 + 3 * 4": 14,
    "7 / 2": 3,
    "-7 / 2": -3,
    "7 % 4 * 2": 6,
    "!0": 1,
    "!3": 0,
    "!1 == 0": 1,
    "+5 - -2": 7,
    "0x1F": 31,
    "ONE + FOUR": 5,
    "TEXT + EMPTY + MISSING": 0,
    "defined ONE": 1,
    "defined(MISSING)": 0,
    "defined(EMPTY) && !defined MISSING": 1,
    "1 /* two */ + 2 // three": 3,
  };
  for (const [text, value] of Object.entries(values)) it(text, () => assert.equal(conditionValue(text, MACROS), value));

  const wrong: Readonly<Record<string, RegExp>> = {
    "": /a value is missing/,
    "1 +": /a value is missing/,
    "1 2": /`2` was not expected/,
    "(1": /`\)` is missing/,
    "defined(ONE": /`\)` is missing/,
    ")": /`\)` was not expected/,
    "1 ? 2": /`\?` was not expected/,
    [`${"(".repeat(101)}1`]: /nests too deep/,
  };
  for (const [text, message] of Object.entries(wrong))
    it(`refuse ${text.slice(0, 20) || "nothing"}`, () => assert.throws(() => conditionValue(text, MACROS), message));
  it("nest a hundred deep", () => assert.equal(conditionValue(`${"(".repeat(99)}1${")".repeat(99)}`, MACROS), 1));
});

describe("lines of the preprocessor", () => {
  const targets = (text: string): string[] =>
    statements(text).map((s) => (s.kind === "assign" && s.target.kind === "name" ? s.target.name : s.kind));

  it("take the first branch that holds, and no branch within one that is left out", () => {
    const choose = (n: number) =>
      targets(`#define N ${n}\n#if N == 1\na = 1\n#elif N > 1\nb = 1\n#elif N > 2\nc = 1\n#else\nd = 1\n#endif\ne = 1`);
    assert.deepEqual([0, 1, 2, 3].map(choose), [
      ["d", "e"],
      ["a", "e"],
      ["b", "e"],
      ["b", "e"],
    ]);
    assert.deepEqual(targets("#if 0\n#if 1\na = 1\n#else\nb = 1\n#endif\n#else\nc = 1\n#endif"), ["c"]);
    assert.deepEqual(targets("#ifdef N\na = 1\n#endif\n#ifndef N\nb = 1\n#define N\n#endif\n#ifdef N\nc = 1\n#endif"), ["b", "c"]);
  });

  it("go on behind a backslash", () => {
    assert.deepEqual(targets("#if 1 && \\\n  0\na = 1\n#endif\nb = 1"), ["b"]);
    assert.deepEqual(problemsOf("subroutine s\n#define A \\\n 1\nb = = A\nend"), ["a.F90:4:5: =: a value is missing here"]);
  });

  it("say what is wrong with them", () => {
    assert.deepEqual(problemsOf("subroutine s\n#if 1 +\na = = 1\n#endif\n#endif\nend"), [
      "a.F90:2:1: #if 1 +: a value is missing",
      "a.F90:5:1: #endif: closes no `#if`",
    ]);
    assert.deepEqual(problemsOf("subroutine s\n#else\n#if 1\nend"), [
      "a.F90:2:1: #else: belongs to no `#if`",
      "a.F90:3:1: #if: is not closed (add `#endif`)",
    ]);
  });
});

it("kinds have their bytes by digits and ranges", () => {
  const kinds: Readonly<Record<string, number>> = {
    "kind(1.0)": 4,
    "kind(1d0)": 8,
    "kind(1.0_8)": 8,
    "selected_real_kind(6)": 4,
    "selected_real_kind(7)": 8,
    "selected_real_kind(15, 307)": 8,
    "selected_real_kind(16)": 16,
    "selected_int_kind(2)": 1,
    "selected_int_kind(3)": 2,
    "selected_int_kind(4)": 2,
    "selected_int_kind(5)": 4,
    "selected_int_kind(9)": 4,
    "selected_int_kind(10)": 8,
    "(4)": 4,
  };
  const names = Object.keys(kinds).map((_, n) => `k${n}`);
  const text = `subroutine s\n${Object.keys(kinds)
    .map((kind, n) => `integer, parameter :: ${names[n]} = ${kind}`)
    .join("\n")}\nend subroutine`;
  const [scope] = readSymbols([parsed(text)], {}, new Problems()).scopes;
  const at = { file: "a.F90", line: 1, column: 1 };
  assert.deepEqual(
    names.map((name) => kindBytes(scope, { kind: "name", name, at })),
    Object.values(kinds),
  );
});
