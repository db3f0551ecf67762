/* Kernels with mistakes in them, which are made on purpose. */
import { describe } from "node:test";
import { f64, kernel, vec2i, vec3, vec3f, view, type Vec3 } from "isoform";
import { refuses } from "./refuses.js";

const y = view(f64),
  v = view(vec3);

describe("vectors that are written otherwise are refused", () => {
  refuses([
    [
      "assigned components",
      kernel("k", { v }, ({ v }, i) => {
        const q = v[i];
        q.y = 1;
        v[i] = q;
      }),
      "q.y = 1",
      /^q is a vec3 and does not change$/,
      /write q = q\.with\(1, value\)/,
    ],
    [
      "operators",
      kernel("k", { v, y }, ({ v, y }, i) => {
        y[i] = (v[i] as unknown as number) + 1;
      }),
      "v[i] as unknown",
      /a vec3 is used as a number/,
      /v\.add\(w\)/,
    ],
    [
      "other types",
      kernel("k", { v, w: view(vec3f) }, ({ v, w }, i) => {
        v[i] = v[i].add(w[i]);
      }),
      "w[i])",
      /add takes a vec3, and is given a vec3f/,
      /write vec3\(\.\.\.\)/,
    ],
    [
      "other values for an element",
      kernel("k", { v, w: view(vec3f) }, ({ v, w }, i) => {
        v[i] = w[i];
      }),
      "v[i] = w",
      /elements of v are vec3, and it is given a vec3f/,
      /write vec3\(\.\.\.\)/,
    ],
    [
      "unknown methods",
      kernel("k", { n: view(vec2i), y }, ({ n, y }, i) => {
        y[i] = (n[i] as unknown as Vec3).length();
      }),
      "n[i] as",
      /a vec2i has no method "length"/,
      /it has add, sub/,
    ],
    [
      "methods that are not called",
      kernel("k", { v, y }, ({ v, y }, i) => {
        y[i] = v[i].length as unknown as number;
      }),
      "v[i].length",
      /length of a vec3 is a method/,
      /call it: v\.length\(\)/,
    ],
    [
      "places outside",
      kernel("k", { v, y }, ({ v, y }, i) => {
        y[i] = v[i].at(3);
      }),
      "3)",
      /at of a vec3 has no place 3/,
      /0 to 2/,
    ],
    [
      "compound assignments",
      kernel("k", { v }, ({ v }, i) => {
        (v as unknown as number[])[i] += 1;
      }),
      "v as unknown",
      /\+= of a vec3/,
      /x\[i\]\.add/,
    ],
    [
      "numbers of another type",
      kernel(
        "k",
        { w: view(vec3f), y },
        ({ w, y }, i) => {
          w[i] = vec3f(y[i], 0, 0);
        },
        () => [vec3f],
      ),
      "vec3f(y",
      /components of vec3f are f32/,
      /Math\.fround/,
    ],
  ]);
});
