import { it } from "node:test";
import assert from "node:assert/strict";
import { f64, kernel, view } from "isoform";
import { agrees, doubles } from "./lowered.js";

const x = view(f64),
  y = view(f64);
const memory = () => ({ x: doubles(1, 2, 3, 4, 5), y: doubles(0, 0, 0, 0, 0) });

it("break and continue may name a loop further out", () => {
  const kernels = [
    kernel("counted", { x, y }, ({ x, y }, i) => {
      outer: for (let j = 0; j < 4; j++) {
        for (let k = 0; k < 4; k++) {
          if (k === j) continue outer;
          if (x[i] * k > 7) break outer;
          y[i] += 10 * j + k;
        }
        y[i] += 1000;
      }
    }),
    kernel("while", { x, y }, ({ x, y }, i) => {
      let n = 0;
      all: while (true) {
        n++;
        some: do {
          for (let k = 0; k < 3; k++) {
            if (n + k > 5) break all;
            if (k > x[i]) continue some;
            if (n > 3) continue all;
            y[i] += k + n;
          }
        } while (n++ < 4);
      }
      y[i] += 100 * n;
    }),
    kernel("function", { x, y }, ({ x, y }, i) => {
      const first = (limit: number): number => {
        let found = -1;
        rows: for (let j = 0; j < 5; j++)
          for (let k = 0; k < 5; k++)
            if (x[j] * x[k] > limit) {
              found = 10 * j + k;
              break rows;
            }
        return found;
      };
      y[i] = first(x[i] * 3) + first(100);
    }),
    kernel("return", { x, y }, ({ x, y }, i) => {
      outer: for (let j = 0; j < 5; j++) {
        for (;;) {
          if (x[j] > 3) return;
          y[i] += x[j];
          if (y[i] > i) continue outer;
          if (y[i] > 100) break;
        }
      }
    }),
  ];
  for (const k of kernels) assert.notDeepEqual([...agrees(k, memory(), 5).y.data], [0, 0, 0, 0, 0], k.name);
});
