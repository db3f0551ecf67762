import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { bool, f32, f64, fixed, i32, kernel, mulhi, powi, scatter, sum, table, u32, u8, view } from "isoform";
import { evaluate } from "../random/evaluate.js";
import { range } from "../../src/device/launch/policy.js";
import type { Kernel } from "../../src/kernel/declare/kernel.js";
import { lower } from "../../src/kernel/lower/lower.js";
import { agrees, doubles, integers, lowered } from "./lowered.js";

const d = view(f64),
  s = view(f32),
  n = view(i32),
  u = view(u32);

describe("literals take the type of what they meet", () => {
  it("in operations and stores", () => {
    assert.equal(
      lowered(
        kernel("k", { d }, ({ d }, i) => {
          d[i] = 2 * d[i] + 1;
        }),
      ),
      "d[i] = 2.0 * d[i] + 1.0",
    );
    assert.equal(
      lowered(
        kernel("k", { s }, ({ s }, i) => {
          s[i] = 0.1 * s[i] - 1;
        }),
      ),
      "s[i] = 0.10000000149011612f * s[i] - 1.0f",
    );
    assert.equal(
      lowered(
        kernel("k", { n }, ({ n }, i) => {
          n[i] = 3 * n[i] + i;
        }),
      ),
      "n[i] = 3 * n[i] + i",
    );
    assert.equal(
      lowered(
        kernel("k", { u }, ({ u }, i) => {
          u[i] = u[i] + 4000000000;
        }),
      ),
      "u[i] = u[i] + 4000000000u",
    );
    assert.equal(
      lowered(
        kernel("k", { s, d }, ({ s, d }, i) => {
          s[i] = 2;
          d[i] = -0;
        }),
      ),
      "s[i] = 2.0f\nd[i] = -0.0",
    );
  });
  it("and among themselves are numbers of plain TypeScript", () => {
    assert.equal(
      lowered(
        kernel("k", { d }, ({ d }, i) => {
          d[i] = 1 / 3 + (7 % 4) - 2 * 3;
        }),
      ),
      "d[i] = -2.6666666666666665",
    );
    assert.equal(
      lowered(
        kernel("k", { n }, ({ n }, i) => {
          n[i] = Math.floor(7 / 2) + ((7 / 2) | 0);
        }),
      ),
      "n[i] = 3 + 3",
    );
    assert.equal(
      lowered(
        kernel("k", { n }, ({ n }, i) => {
          n[i] = (0xffffffff | 0) + ~5 + (1 << 4);
        }),
      ),
      "n[i] = -1 + ~5 + (1 << 4)",
    );
  });
  it("and in functions, whose value takes the type of what it meets", () => {
    assert.equal(
      lowered(
        kernel("k", { powi, s }, ({ powi, s }, i) => {
          s[i] = powi(3, -2) * s[i] + powi(s[i], 2) + Math.sqrt(9) + Math.pow(2, 3);
          s[i] = Math.fround(powi(2, i));
        }),
      ),
      "s[i] = 0.1111111119389534f * s[i] + powi(s[i], 2) + 3.0f + 8.0f\ns[i] = f32(powi(2.0, i))",
    );
  });
});

describe("a variable that begins with a literal takes the widest type of what it is given", () => {
  it("f64", () => {
    assert.equal(
      lowered(
        kernel("k", { d }, ({ d }, i) => {
          let total = 0;
          for (let k = 0; k < 3; k++) total += d[k];
          d[i] = total;
        }),
      ),
      "let total: f64 = 0.0\nfor k = 0 until 3\n  total = total + d[k]\nd[i] = total",
    );
  });
  it("f32, i32 and u32", () => {
    assert.match(
      lowered(
        kernel("k", { s }, ({ s }, i) => {
          let a = 0;
          a += s[i];
          s[i] = a;
        }),
      ),
      /let a: f32 = 0.0f/,
    );
    assert.match(
      lowered(
        kernel("k", { n }, ({ n }, i) => {
          let a = 0;
          a += n[i];
          n[i] = a;
        }),
      ),
      /let a: i32 = 0\n/,
    );
    assert.match(
      lowered(
        kernel("k", { u }, ({ u }, i) => {
          let a = 1;
          a = u[i];
          u[i] = a;
        }),
      ),
      /let a: u32 = 1u/,
    );
  });
  it("first an integer, later a float", () => {
    assert.match(
      lowered(
        kernel("k", { n, d }, ({ n, d }, i) => {
          let a = 0;
          a = n[i];
          a *= d[i];
          d[i] = a;
        }),
      ),
      /let a: f64 = 0.0\na = f64\(n\[i\]\)/,
    );
    assert.match(
      lowered(
        kernel("k", { s, d }, ({ s, d }, i) => {
          let a = 0;
          a = s[i];
          a *= d[i];
          d[i] = a;
        }),
      ),
      /let a: f64 = 0.0\na = f64\(s\[i\]\)/,
    );
  });
  it("when its type is learnt below its first use, through other variables", () => {
    assert.equal(
      lowered(
        kernel("k", { d }, ({ d }, i) => {
          let a = 0,
            b = 0,
            c = 0;
          for (let k = 0; k < 3; k++) {
            c = b / 2;
            b = a;
            a += d[k];
          }
          d[i] = c;
        }),
      ),
      `let a: f64 = 0.0
let b: f64 = 0.0
let c: f64 = 0.0
for k = 0 until 3
  c = b / 2.0
  b = a
  a = a + d[k]
d[i] = c`,
    );
  });
  it("without a first value", () => {
    assert.equal(
      lowered(
        kernel("k", { n, d }, ({ n, d }, i) => {
          let at;
          if (d[i] > 0) at = 1;
          else at = 2;
          n[at] = 1;
        }),
      ),
      "let at: i32\nif d[i] > 0.0\n  at = 1\nelse\n  at = 2\nn[at] = 1",
    );
  });
  it("for what helpers return, too", () => {
    const clamp = (v: number): number => {
      if (v < 0) return 0;
      if (v > 9) return 9.5;
      return v;
    };
    assert.match(
      lowered(
        kernel("k", { clamp, s }, ({ clamp, s }, i) => {
          s[i] = clamp(s[i]);
        }),
      ),
      /let clamp_result: f32\n/,
    );
    const sign = (v: number): number => {
      if (v < 0) return -1;
      return 1;
    };
    assert.match(
      lowered(
        kernel("k", { sign, n }, ({ sign, n }, i) => {
          n[i] = sign(n[i]);
        }),
      ),
      /let sign_result: i32\n/,
    );
  });
});

describe("types meet", () => {
  it("integers and floats as the float, f32 and f64 as f64", () => {
    assert.equal(
      lowered(
        kernel("k", { d, s, n, u }, ({ d, s, n, u }, i) => {
          d[i] = d[i] * n[i] + s[i] * u[i] - u[i] / 0.5;
        }),
      ),
      "d[i] = d[i] * f64(n[i]) + f64(s[i] * f32(u[i])) - f64(u[i]) / 0.5",
    );
    assert.equal(
      lowered(
        kernel("k", { d, n }, ({ d, n }, i) => {
          d[i] = n[i] < d[i] ? n[i] : 0.5;
        }),
      ),
      "d[i] = f64(n[i]) < d[i] ? f64(n[i]) : 0.5",
    );
  });
  it("whole quotients and remainders of integers stay integers", () => {
    assert.equal(
      lowered(
        kernel("k", { n }, ({ n }, i) => {
          n[i] = ((n[i] / 3) | 0) + Math.trunc(n[i] / i) + (n[i] % 5);
        }),
      ),
      "n[i] = n[i] / 3 + n[i] / i + n[i] % 5",
    );
    assert.equal(
      lowered(
        kernel("k", { u }, ({ u }, i) => {
          u[i] = Math.floor(u[i] / 3) + ((u[i] / 5) >>> 0);
        }),
      ),
      "u[i] = u[i] / 3u + u[i] / 5u",
    );
    assert.equal(
      lowered(
        kernel("k", { n, d }, ({ n, d }, i) => {
          d[i] = +n[i] / 3 + i / d[i];
        }),
      ),
      "d[i] = f64(n[i]) / 3.0 + f64(i) / d[i]",
    );
  });
  it("bit operations give i32, >>> gives u32", () => {
    assert.equal(
      lowered(
        kernel("k", { u }, ({ u }, i) => {
          u[i] = ((u[i] ^ 0x80000000) & i) >>> 0;
        }),
      ),
      "u[i] = u32((i32(u[i]) ^ -2147483648) & i)",
    );
    assert.equal(
      lowered(
        kernel("k", { u, n, mulhi }, ({ u, n, mulhi }, i) => {
          u[i] = mulhi(u[i] >>> 3, n[i]);
        }),
      ),
      "u[i] = mulhi(u[i] >>> 3u, u32(n[i]))",
    );
    assert.equal(
      lowered(
        kernel("k", { n, d }, ({ n, d }, i) => {
          n[i] = Number.MAX_SAFE_INTEGER > d[i] ? ~n[i] : Math.imul(n[i], 0xffffffff);
        }),
      ),
      "n[i] = 9007199254740991.0 > d[i] ? ~n[i] : n[i] * -1",
    );
  });
  it("conditions of numbers are true where they are not zero", () => {
    assert.equal(
      lowered(
        kernel("k", { d, n, b: bool }, ({ d, n, b }, i) => {
          if ((d[i] && !n[i]) || b) d[i] = 1;
        }),
      ),
      "if bool(d[i]) && !bool(n[i]) || b\n  d[i] = 1.0",
    );
  });
  it("u8 is read and written as i32", () => {
    assert.equal(
      lowered(
        kernel("k", { b: view(u8), n }, ({ b, n }, i) => {
          b[i] = b[i] + n[i];
        }),
      ),
      "b[i] = b[i] + n[i]",
    );
  });
  it("indices may be u32, fixed or from tables", () => {
    assert.equal(
      lowered(
        kernel("k", { u, d, f: fixed(i32), t: table(i32, [2, 1]) }, ({ u, d, f, t }, i) => {
          d[i] = d[u[i]] + d[f] + d[t[1]];
        }),
        { f: 3 },
      ),
      "d[i] = d[i32(u[i])] + d[3] + d[t[1]]",
    );
  });
  it("reductions and scatters convert what is folded", () => {
    const k = kernel("k", { n, total: sum(f64), h: scatter(f64) }, ({ n, total, h }, i) => {
      total.add(n[i]);
      h.add(n[i], 1);
    });
    assert.equal(lowered(k), "reduce total <- f64(n[i])\nscatter h[n[i]] <- 1.0");
  });
});

describe("what compiled code means is what plain TypeScript means", () => {
  const edge = fc.constantFrom(0, 1, -1, 2, 3, 7, -7, 2147483647, -2147483648, 65537);
  const whole = fc.oneof(edge, fc.integer());
  const k = kernel("k", { a: view(i32), b: view(i32), o: view(i32, 2) }, ({ a, b, o }, i) => {
    o[i][0] = (a[i] / b[i]) | 0;
    o[i][1] = Math.floor(a[i] / b[i]) | 0;
    o[i][2] = (a[i] % b[i]) | 0;
    o[i][3] = (Math.imul(a[i], b[i]) + ((a[i] - b[i]) | 0)) | 0;
    o[i][4] = ((a[i] << b[i]) ^ (a[i] >> b[i])) | (a[i] >>> b[i]);
    o[i][5] = ((Math.abs(a[i]) | 0) + Math.sign(b[i])) | 0;
    o[i][6] = Math.clz32(a[i]) - Math.max(-5, Math.min(5, b[i]));
  });
  it("for integers", () => {
    fc.assert(
      fc.property(
        whole,
        whole,
        (a, b) => void agrees(k, { a: integers(a), b: integers(b), o: { type: "i32", shape: [1, 7], data: new Int32Array(7) } }, 1),
      ),
      { seed: 1 },
    );
  });
  const r = kernel("k", { x: view(f64), o: view(f64, 2) }, ({ x, o }, i) => {
    o[i][0] = Math.round(x[i]);
    o[i][1] = Math.sign(x[i]);
    o[i][2] = Math.min(x[i], -0) + Math.max(x[i], 0);
    o[i][3] = -x[i] % 3;
  });
  it("for rounding", () => {
    const value = fc.oneof(
      fc.double(),
      fc.integer({ min: -40, max: 40 }).map((h) => h / 4),
      fc.constantFrom(0.49999999999999994, -0.49999999999999994, 4503599627370495.5, -0.5),
    );
    fc.assert(
      fc.property(value, (x) => void agrees(r, { x: doubles(x), o: { type: "f64", shape: [1, 4], data: new Float64Array(4) } }, 1)),
      { seed: 1 },
    );
  });
  it("but casts of floats to integers saturate, and NaN gives 0", () => {
    const cast = kernel("k", { x: view(f64), n: view(i32) }, ({ x, n }, i) => {
      n[i] = x[i] | 0;
    });
    const memory = { x: doubles(1e10, -1e10, NaN, -2.9), n: integers(9, 9, 9, 9) };
    evaluate(lower(cast as unknown as Kernel, {}), range(4), memory, {});
    assert.deepEqual([...memory.n.data], [2147483647, -2147483648, 0, -2]);
  });
});
