import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { f64, i32, kernel, view } from "isoform";
import { agrees, doubles, integers, lowered } from "./lowered.js";

const y = view(f64),
  n = view(i32);

/* Each kernel is run compiled and as plain TypeScript; the expected values say which mistake would show. */

describe("operands are evaluated from left to right", () => {
  it("around a call that changes a local", () => {
    const k = kernel("k", { y }, ({ y }, i) => {
      let s = y[i];
      const next = (): number => {
        s += 1;
        return s;
      };
      y[i] = s + 10 * next() + 100 * s + 1000 * next();
    });
    assert.deepEqual([...agrees(k, { y: doubles(1) }, 1).y.data], [1 + 20 + 200 + 3000]);
  });
  it("around a call that changes a private array or a view", () => {
    const bump = (a: Record<number, number>, k: number): number => {
      a[k] += 1;
      return a[k];
    };
    const k = kernel("k", { bump, y }, ({ bump, y }, i) => {
      const a = new Float64Array(2);
      y[i] = a[1] + 10 * bump(a, 1) + 100 * a[1] + 1000 * (y[i] - bump(y, i)) + 10000 * y[i];
    });
    assert.deepEqual([...agrees(k, { y: doubles(5) }, 1).y.data], [10 + 100 - 1000 + 60000]);
  });
  it("among arguments", () => {
    const three = (a: number, b: number, c: number): number => a + 10 * b + 100 * c;
    const k = kernel("k", { three, y }, ({ three, y }, i) => {
      let s = 1;
      const next = (): number => (s = s + 1);
      y[i] = three(s, next(), s);
    });
    assert.deepEqual([...agrees(k, { y: doubles(0) }, 1).y.data], [221]);
  });
  it("among indices, and before the value that is stored", () => {
    const k = kernel("k", { n }, ({ n }, i) => {
      let at = i;
      const next = (): number => (at = at + 1);
      const a = new Int32Array(4);
      a[at] = next();
      a[at] += next();
      n[0] = a[0];
      n[1] = a[1];
      n[2] = a[2];
    });
    assert.deepEqual([...agrees(k, { n: integers(9, 9, 9) }, 1).n.data], [1, 2, 0]);
  });
  it("in conditions, of which only what is needed is evaluated", () => {
    const k = kernel("k", { y }, ({ y }, i) => {
      let calls = 0;
      const count = (v: boolean): boolean => {
        calls += 1;
        return v;
      };
      let got = 0;
      if (count(y[i] > 1) && count(y[i] > 2)) got += 1;
      if (count(y[i] > 1) || count(y[i] > 0)) got += 10;
      const chosen = y[i] > 1 ? (count(true) ? 100 : 200) : 300;
      y[i] = got + chosen + 1000 * calls;
    });
    assert.deepEqual([...agrees(k, { y: doubles(0.5, 1.5, 2.5) }).y.data], [3310, 4110, 4111]);
  });
  it("in conditions of loops, each time around", () => {
    const k = kernel("k", { y }, ({ y }, i) => {
      let left = 3;
      const take = (): boolean => {
        left -= 1;
        return left > 0;
      };
      let turns = 0;
      while (take()) turns += 1;
      left = 3;
      do turns += 10;
      while (take() && turns < 100);
      y[i] = turns;
    });
    assert.deepEqual([...agrees(k, { y: doubles(0) }, 1).y.data], [32]);
  });
  it("of assignments used as values", () => {
    const k = kernel("k", { y }, ({ y }, i) => {
      let a = 1,
        b = 2,
        at = 0;
      const q = new Float64Array(3);
      a = b = a + b;
      q[at++] = 5;
      q[at++] = 6;
      q[++at - 1] = 7;
      y[i] = a + 10 * b + 100 * q[0] + 1000 * q[1] + 10000 * q[2] + 100000 * (y[i] = y[i] + 1);
    });
    assert.deepEqual([...agrees(k, { y: doubles(1) }, 1).y.data], [3 + 30 + 500 + 6000 + 70000 + 200000]);
  });
});

describe("names stand for what they stand for in TypeScript", () => {
  it("values swapped through an array literal", () => {
    const k = kernel("k", { y }, ({ y }, i) => {
      let a = 1,
        b = 2;
      [a, b] = [b, a];
      y[i] = a + 10 * b;
    });
    assert.deepEqual([...agrees(k, { y: doubles(0) }, 1).y.data], [12]);
  });
  it("numbers are copied, arrays are shared", () => {
    const k = kernel("k", { y }, ({ y }, i) => {
      let a = 1;
      const b = a,
        record = { a },
        list = [a, a];
      let shared = [a, 2];
      const alias = shared;
      a = 5;
      alias[0] = 7;
      shared[1] = 8;
      y[i] = b + 10 * record.a + 100 * list[0] + 1000 * shared[0] + 10000 * alias[1];
    });
    assert.deepEqual([...agrees(k, { y: doubles(0) }, 1).y.data], [1 + 10 + 100 + 7000 + 80000]);
  });
  it("a parameter that a helper assigns is its own", () => {
    const halve = (v: number): number => {
      while (v > 1) v /= 2;
      return v;
    };
    const k = kernel("k", { halve, y }, ({ halve, y }, i) => {
      let v = y[i];
      y[i] = halve(v) + 10 * v;
      i += 1;
      v = i;
      y[i - 1] += 1000 * v;
    });
    assert.deepEqual([...agrees(k, { y: doubles(8) }, 1).y.data], [1 + 80 + 1000]);
  });
  it("defaults and parts of what is handed over can be assigned, too", () => {
    const grow = ({ a, b }: { a: number; b: number }, step = 2): number => {
      step += 1;
      a *= step;
      return a + b;
    };
    const k = kernel("k", { grow, y }, ({ grow, y }, i) => {
      const part = { a: y[i], b: 1 };
      y[i] = grow(part) + 100 * grow(part, 4) + 10000 * part.a;
    });
    assert.deepEqual([...agrees(k, { y: doubles(2) }, 1).y.data], [7 + 1100 + 20000]);
  });
  it("blocks hide what is outside, helpers see nothing of their callers", () => {
    const inner = (v: number): number => {
      const s = v + 1;
      return s;
    };
    const k = kernel("k", { inner, y }, ({ inner, y }, i) => {
      let s = 1;
      {
        let s = 2;
        s += inner(s);
        y[i] = s;
      }
      for (let s = 0; s < 3; s++) y[i] += s;
      const add = (y: number): number => y + s;
      y[i] += 100 * add(s);
    });
    assert.deepEqual([...agrees(k, { y: doubles(0) }, 1).y.data], [5 + 3 + 200]);
  });
  it("a row of a view keeps the index with which it was named, in helpers too", () => {
    const rowSum = (row: Record<number, number>, at: { now: number }): number => row[0] + row[1] + at.now;
    const k = kernel("k", { rowSum, a: view(f64, 2), y }, ({ rowSum, a, y }, i) => {
      let at = 0;
      const total = (row: { [k: number]: number }): number => {
        at = 1;
        return row[0] + row[1];
      };
      y[i] = total(a[at]) + rowSum(a[at], { now: at });
    });
    assert.deepEqual(
      [...agrees(k, { a: { type: "f64", shape: [2, 2], data: new Float64Array([1, 2, 30, 40]) }, y: doubles(0) }, 1).y.data],
      [3 + 70 + 1],
    );
  });
});

describe("loops are counted only where that changes nothing", () => {
  const turns = (k: Parameters<typeof lowered>[0]): string => /^ *(for|while)/m.exec(lowered(k))![1];
  it("plain ones are", () => {
    assert.equal(
      lowered(
        kernel("k", { m: i32, n }, ({ m, n }, i) => {
          for (let k = m; k >= 2 * i; k -= 3) n[i] += k;
        }),
      ),
      "for k = m until 2 * i - 1 step -3\n  n[i] = n[i] + k",
    );
    assert.equal(
      lowered(
        kernel("k", { m: i32, n }, ({ m, n }, i) => {
          for (let k = 0; k <= m; ++k) n[i] += k;
        }),
      ),
      "for k = 0 until m + 1\n  n[i] = n[i] + k",
    );
  });
  it("with more declarations, the bound on the left, or a sum as update", () => {
    const k = kernel("k", { n }, ({ n }, i) => {
      for (let k = i, m = n.length, from = 2; m > k; k = k + from - from + 2) n[i] += k;
      for (let k = i, m = n.length; m > k; k = k + 2) n[i] += k;
    });
    assert.match(lowered(k), /^let k: i32 = i.*while n\.length > k.*for k_2 = i until n\.length step 2/s);
  });
  it("with more conditions, as minifiers make of a break that begins the body", () => {
    const k = kernel("k", { m: i32, n }, ({ m, n }, i) => {
      for (let k = i; k < m && n[k] > 0 && m > 1; k += 5) n[i] += k;
    });
    const leave = "\n  else\n    break\n";
    assert.equal(lowered(k), `for k = i until m step 5\n  if n[k] > 0${leave}  if m > 1${leave}  n[i] = n[i] + k`);
  });
  it("a bound in memory that does not change is read once", () => {
    const k = kernel("k", { start: n, y }, ({ start, y }, i) => {
      for (let k = start[i]; k < start[i + 1]; k++) y[i] += k;
    });
    assert.equal(lowered(k), "let stop: i32 = start[i + 1]\nfor k = start[i] until stop\n  y[i] = y[i] + f64(k)");
  });
  it("not where the body changes the counter", () => {
    const k = kernel("k", { y }, ({ y }, i) => {
      for (let k = 0; k < 6; k++) {
        if (k === 2) k += 2;
        y[i] += k;
      }
    });
    assert.equal(turns(k), "while");
    assert.deepEqual([...agrees(k, { y: doubles(0) }, 1).y.data], [0 + 1 + 4 + 5]);
  });
  it("not where a function inside the body changes the counter", () => {
    const k = kernel("k", { y }, ({ y }, i) => {
      for (let k = 0; k < 6; k++) {
        const skip = (): void => {
          k += 1;
        };
        skip();
        y[i] += k;
      }
    });
    assert.deepEqual([...agrees(k, { y: doubles(0) }, 1).y.data], [1 + 3 + 5]);
  });
  it("not where a function changes the bound", () => {
    const k = kernel("k", { y }, ({ y }, i) => {
      let end = 6;
      const shrink = (): void => {
        end -= 1;
      };
      for (let k = 0; k < end; k++) {
        shrink();
        y[i] += 1;
      }
    });
    assert.equal(turns(k), "while");
    assert.deepEqual([...agrees(k, { y: doubles(0) }, 1).y.data], [3]);
  });
  it("not where the bound is in memory that the body writes", () => {
    const k = kernel("k", { n }, ({ n }, i) => {
      const a = new Int32Array([5]);
      for (let k = 0; k < a[0]; k++) a[0] -= 1;
      for (let k = 0; k < n[i]; k++) n[i] -= 1;
      n[i] += 10 * a[0];
    });
    assert.deepEqual([...agrees(k, { n: integers(8) }, 1).n.data], [4 + 30 - 10]);
  });
  it("not where the test mentions the counter twice", () => {
    const k = kernel("k", { y }, ({ y }, i) => {
      for (let k = 0; k < 7 - k; k++) y[i] += 1;
    });
    assert.equal(turns(k), "while");
    assert.deepEqual([...agrees(k, { y: doubles(0) }, 1).y.data], [4]);
  });
});

describe("returns become plain control flow", () => {
  const cases: [string, (v: number) => number][] = [
    [
      "from nested loops",
      (v) => {
        for (let a = 0; a < 4; a++) {
          for (let b = 0; b < 4; b++) {
            if (a * b > v) return 10 * a + b;
            if (b > a) break;
          }
        }
        return -1;
      },
    ],
    [
      "from both sides of an if, each with a loop",
      (v) => {
        if (v > 2) {
          for (let a = 0; a < 9; a++) if (a > v) return a;
          return 100;
        }
        for (let a = 0; a < 3; a++) if (a > v) return -a;
        return 200;
      },
    ],
    [
      "from some sides of nested ifs, with code behind",
      (v) => {
        let s = 1;
        if (v > 1) {
          s = 2;
          if (v > 2) return s;
          s = 3;
        } else if (v < 1) s = 4;
        s *= 10;
        if (v === 2) return s;
        return s + 1;
      },
    ],
    [
      "from a loop without a test",
      (v) => {
        let a = 0;
        for (;;) {
          a += 1;
          if (a > v) return a;
        }
      },
    ],
    [
      "from a do-while, before its test",
      (v) => {
        let a = 0;
        do {
          a += 1;
          if (a === 3) continue;
          if (a > v + 1) return 10 * a;
        } while (a < 4);
        return a;
      },
    ],
  ];
  for (const [title, helper] of cases)
    it(title, () => {
      const k = kernel("k", { helper, y }, ({ helper, y }, i) => {
        y[i] = helper(y[i]) + 1000 * helper(i);
      });
      agrees(k, { y: doubles(0, 1, 2, 3, 4, 5) }, 6);
    });
  it("of the kernel itself, inside a loop that calls helpers with returns", () => {
    const first = (v: number): number => {
      for (let a = 0; a < 3; a++) if (a > v) return a;
      return 9;
    };
    const k = kernel("k", { first, y }, ({ first, y }, i) => {
      for (let k = 0; k < 3; k++) {
        if (first(y[i] - k) === 9) return;
        y[i] += 1;
        if (y[i] > 2.5) return;
      }
      y[i] += 100;
    });
    agrees(k, { y: doubles(-5, 0, 0.5, 1, 2, 3) }, 6);
  });
});
