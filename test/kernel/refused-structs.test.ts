import { describe } from "node:test";
import { f64, i32, kernel, struct, vec3, view } from "isoform";
import { refuses } from "./refuses.js";

const Hit = struct("Hit", { at: vec3, cell: i32 });
const y = view(f64);

describe("records that are written otherwise are refused", () => {
  refuses([
    [
      "a field that is missing",
      kernel(
        "k",
        { hits: view(Hit) },
        ({ hits }, i) => {
          hits[i] = Hit({ cell: i } as never);
        },
        () => [Hit],
      ),
      "Hit({",
      /a Hit has the fields at, cell, and is given cell/,
      /write Hit\(\{ at, cell \}\)/,
    ],
    [
      "another value",
      kernel(
        "k",
        { hits: view(Hit) },
        ({ hits }, i) => {
          hits[i] = vec3(0, 0, 0) as never;
        },
        () => [vec3],
      ),
      "hits[i] =",
      /a Hit has the fields at, cell, and is given a vec3/,
      /write Hit/,
    ],
    [
      "a number in place of a vector",
      kernel(
        "k",
        { hits: view(Hit) },
        ({ hits }, i) => {
          hits[i] = Hit({ at: 3 as never, cell: i });
        },
        () => [Hit],
      ),
      "Hit({",
      /at of Hit is a vec3, and is given something else/,
      /write vec3/,
    ],
    [
      "fractions in whole numbers",
      kernel("k", { hits: view(Hit), y }, ({ hits, y }, i) => {
        hits[i].cell = 0.5 * y[i];
      }),
      "hits[i].cell",
      /hits_cell|i32/,
      /Math\.trunc|\| 0/,
    ],
    [
      "fields of values",
      kernel("k", { hits: view(Hit) }, ({ hits }, i) => {
        const hit = hits[i];
        (hit as { cell: number }).cell = 1;
      }),
      "hit as",
      /fields of an object cannot be assigned/,
      /\.\.\./,
    ],
  ]);
});
