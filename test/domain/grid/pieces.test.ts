import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { HOST_LIMITS, evenPlaneRuns, requireWhole } from "../../../src/domain/grid/pieces.js";

const { piece, whole } = HOST_LIMITS;

describe("pieces of planes", () => {
  afterEach(() => Object.assign(HOST_LIMITS, { piece, whole }));

  it("have 64 MiB at most, and one plane at least", () => {
    assert.ok(piece <= 2 ** 26);
    HOST_LIMITS.piece = 100;
    assert.deepEqual(evenPlaneRuns({ first: -1, end: 6 }, 30), [
      { first: -1, end: 2 },
      { first: 2, end: 5 },
      { first: 5, end: 6 },
    ]);
    assert.deepEqual(evenPlaneRuns({ first: 0, end: 2 }, 101), [
      { first: 0, end: 1 },
      { first: 1, end: 2 },
    ]);
    assert.deepEqual(evenPlaneRuns({ first: 3, end: 3 }, 1), []);
  });

  it("begin at multiples of a step", () => {
    HOST_LIMITS.piece = 100;
    assert.deepEqual(evenPlaneRuns({ first: 0, end: 9 }, 12, 4), [
      { first: 0, end: 8 },
      { first: 8, end: 9 },
    ]);
    assert.deepEqual(evenPlaneRuns({ first: 0, end: 9 }, 99, 4), [
      { first: 0, end: 4 },
      { first: 4, end: 8 },
      { first: 8, end: 9 },
    ]);
  });

  it("are what is asked for where a whole array is too large", () => {
    requireWhole('field "u"', "f64", 2 ** 27);
    assert.throws(() => requireWhole('field "u"', "f64", 2 ** 27 + 1), {
      name: "LaunchError",
      message:
        'field "u" has 134217729 values, 1.00 GiB, and an array on the host has 1 GiB at most; use planes(), which gives some planes at a time',
    });
  });
});
