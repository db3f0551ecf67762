import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { f64, kernel, view } from "isoform";
import { agrees, doubles, refusal } from "./lowered.js";

/* Calls that tools write in place of the author's own syntax. */

/** What tools declare beside a kernel. */
const HELPERS =
  "const __pow = Math.pow, __spreadValues = Object.assign, __spreadProps = Object.assign, _object_spread = Object.assign, _extends = Object.assign, __name = (f) => f, s = __name, __objRest = () => ({}), __async = () => ({}), _a = { y: 1 };";

/** A kernel as tools have written it. */
const written = (code: string) => kernel("k", { x: view(f64), y: view(f64) }, new Function(`${HELPERS} return ${code}`)() as never);
const memory = () => ({ x: doubles(1, 2, 3), y: doubles(0, 0, 0) });

describe("calls that tools write", () => {
  it("mean what the author wrote, where that is part of the language", () => {
    for (const code of [
      // esbuild, target es2015: x ** 3, y **= 2, 2 ** 10.
      "({ x, y }, i) => { let a = x[i]; a = __pow(a, 2); y[i] = __pow(a, 3) + __pow(2, 10); y[i] = __pow(y[i], 2); }",
      "({ x, y }, i) => { var _a; y[_a = i] = __pow(x[_a], 2) + 1; }",
      // { ...o, c: 3 } by esbuild, tsc and swc for old targets.
      "({ x, y }, i) => { let o = { a: x[i], c: 1 }; o = __spreadProps(__spreadValues({}, o), { c: 3 }); y[i] = o.a + 10 * o.c; }",
      "({ x, y }, i) => { let o = { a: x[i], c: 1 }; o = Object.assign(Object.assign({}, o), { c: 3 }); y[i] = o.a + 10 * o.c; }",
      "({ x, y }, i) => { const o = _object_spread({}, { a: x[i] }, { c: 2 }), p = _extends({}, o); y[i] = p.a + 10 * p.c; }",
      // esbuild --keep-names, and minified.
      '({ x, y }, i) => { const g = /* @__PURE__ */ __name((m) => m + 1, "g"); function h(m) { return m * 2; } __name(h, "h"); y[i] = g(x[i]) + h(2); }',
      '({x:r,y:n},o)=>{const b=s(t=>t+1,"g");function u(t){return t*2}s(u,"h"),n[o]=b(r[o])+u(3)}',
    ])
      assert.notDeepEqual([...agrees(written(code), memory()).y.data], [0, 0, 0], code);
  });

  it("are refused as the author wrote them, where it is not", () => {
    const cases: readonly [code: string, message: RegExp][] = [
      ['(_a, i) => { var _b = _a, { y } = _b, rest = __objRest(_b, ["y"]); y[i] = 1; }', /the rest of an object, .* \(name each part\)/],
      ["({ y }, i) => { const l = (0, tslib_1.__spreadArray)([], [1, 2], true); y[i] = l[0]; }", /a spread list, .* write a loop/],
      [
        "({ y }, i) => { const f = (m) => __async(null, null, function* () { yield m; }); y[i] = f(1); }",
        /an async function or a generator is not part/,
      ],
      ["({ y }, i) => { const f = async (m) => m; y[i] = f(1); }", /an async function or a generator is not part/],
      ["({ y }, i) => { function* f(m) { yield m; } y[i] = f(1); }", /an async function or a generator is not part/],
      [
        "({ x, y }, i) => { const q = x[i]; y[i] = q != null ? q : 4; }",
        /compared with null or undefined, .* if your file has \?\? or \?\./,
      ],
      ["({ x, y }, i) => { var _x; y[i] = (_x = x[i]) === null || _x === void 0 ? void 0 : _x.foo; }", /compared with null or undefined/],
      ["({ x, y }, i) => { y[i] = x?.[i]; }", /\?\. is not part of the kernel language/],
      ["({ x, y }, i) => { y[i] = `a${i}`; }", /a template string is not part/],
      ["({ x, y }, i) => { var a = x[i]; y[i] = a; }", /var is not part .* set the tool's target to es2016 or later/],
      ["({ x, y }, i) => { for (let k = 0; k < 2; k++) { var a; a += k; y[i] += a; } }", /var is not part/],
      ["({x:n,y:e},t)=>{e[t]=q(n[t],2)}", /captures "q".* if your file has \*\*, set the tool's target to es2016 or later/],
    ];
    for (const [code, message] of cases) assert.match(refusal(written(code)).message, message, code);
  });
});

it("powers of literals are numbers, whole where they can be", () => {
  const k = kernel("k", { x: view(f64), y: view(f64) }, ({ x, y }, i) => {
    const n = new Float64Array(2 ** 2);
    n[3] = 2 ** -1;
    y[i] = ((i * 2 ** 10) | 0) + n[3] * x[i] + 1e3 ** 4 + n.length;
  });
  agrees(k, memory());
});
