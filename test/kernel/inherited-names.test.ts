import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { f64, fixed, kernel, open, range, scatter, sum, table, view, type Device, type Kernel } from "../../src/index.js";
import { KernelBuilder } from "../../src/ir/builder.js";
import { add, index, load, mul } from "../../src/ir/expressions.js";
import { kernelFromIR } from "../../src/ir-api.js";
import { compileKernel } from "../../src/kernel/compile.js";
import { dense } from "../../src/domain/index.js";
import { skeleton } from "../../src/skeleton/index.js";
import { jsSet } from "../domain/sets.js";
import { NODE_DEVICES } from "../devices.js";

/* Names that every object inherits. */

const NAMES = [
  "constructor",
  "valueOf",
  "toString",
  "hasOwnProperty",
  "isPrototypeOf",
  "toLocaleString",
  "__defineGetter__",
  "__lookupSetter__",
];

/** A kernel of that text over parameters whose names are computed. */
const kernelOf = (params: [string, unknown][], text: string): Kernel =>
  new Function("kernel", "params", `return kernel("named", params, ${text});`)(kernel, Object.fromEntries(params)) as Kernel;

for (const name of [...NAMES, "__proto__"])
  it(`${name} is nothing where the kernel does not declare it`, () =>
    assert.throws(() => compileKernel(kernelOf([["x", view(f64)]], `({ x }, i) => { x[i] = ${name} !== x[i] ? 1 : 2; }`)), {
      name: "KernelError",
      message: new RegExp(`captures "${name}", which is not a parameter`),
    }));

for (const deviceName of NODE_DEVICES)
  describe(`names that objects inherit, on ${deviceName}`, () => {
    let device: Device;
    before(async () => (device = await open(deviceName)));
    after(() => device.close());
    const results = async (params: [string, unknown][], text: string, args: [string, unknown][] = []) => {
      const x = device.from(f64, [1, 2, 3, 4]);
      const given = Object.fromEntries(args.map(([name, value]) => [name, value === "x" ? x : value]));
      const found = await device.run(kernelOf(params, text), given, range(2));
      const values = [...(await device.queue.read(x))];
      x.free();
      return { found, values };
    };
    const x: [string, unknown] = ["x", view(f64)];

    for (const name of NAMES)
      it(`${name} is a local, a counter, a parameter, a table and a result`, async () => {
        const given: [string, unknown][] = [["x", "x"]];
        assert.deepEqual((await results([x], `({ x }, i) => { const ${name} = 2; x[i] *= ${name}; }`, given)).values, [2, 4, 3, 4]);
        const loop = `({ x }, i) => { let t = 0; for (let ${name} = 0; ${name} < 2; ${name}++) t += x[${name} + 1] - x[${name}]; if (i === 0) x[3] = t; }`;
        assert.deepEqual((await results([["x", view(f64, 1, { disjoint: true })]], loop, given)).values, [1, 2, 3, 2]);
        assert.deepEqual((await results([[name, view(f64)]], `({ ${name}: y }, i) => { y[i] += 1; }`, [[name, "x"]])).values, [2, 3, 3, 4]);
        assert.deepEqual(
          (await results([x, [name, f64]], `({ x, ${name}: a }, i) => { x[i] = a; }`, [...given, [name, 7]])).values,
          [7, 7, 3, 4],
        );
        assert.deepEqual(
          (await results([[name, scatter(f64)]], `({ ${name}: h }, i) => { h.add(0, 1); }`, [[name, "x"]])).values,
          [3, 2, 3, 4],
        );
        assert.deepEqual(
          (await results([x, [name, table(f64, [5, 6])]], `({ x, ${name}: t }, i) => { x[i] = t[i]; }`, given)).values,
          [5, 6, 3, 4],
        );
        const { found } = await results([x, [name, sum(f64)]], `({ x, ${name}: s }, i) => { s.add(x[i]); }`, given);
        assert.deepEqual(Object.entries(found as object), [[name, 3]]);
      });

    it("are those of captures, functions, their arguments, objects and fixed parameters", async () => {
      for (const name of NAMES) {
        const x = device.from(f64, [1, 2, 3, 4]);
        const made = (params: object, text: string, captured: string): Kernel =>
          new Function("kernel", "params", `const ${name} = ${captured}; return kernel("named", params, ${text}, () => [${name}]);`)(
            kernel,
            params,
          ) as Kernel;
        const params = { x: view(f64) };
        for (const [text, captured] of [
          [`({ x }, i) => { x[i] += ${name}; }`, "1"],
          [`({ x }, i) => { x[i] = ${name}(x[i]); }`, `function ${name}(v) { return v + 1; }`],
          [`({ x }, i) => { x[i] = ${name}({ ${name}: x[i] }); }`, `({ ${name}: v }) => v + 1`],
          [`({ x }, i) => { const o = { ${name}: x[i] }; x[i] = ${name}(o, { step: 1 }); }`, `(o, { step }) => o.${name} + step`],
        ])
          await device.run(made(params, text, captured), { x }, range(1));
        assert.deepEqual([...(await device.queue.read(x))], [5, 2, 3, 4]);
        const chosen = kernelOf(
          [
            ["x", view(f64)],
            [name, fixed(f64)],
          ],
          `({ x, ${name}: a }, i) => { x[i] = a; }`,
        );
        await device.run(
          chosen,
          Object.fromEntries([
            ["x", x],
            [name, 7],
          ]) as never,
          range(1),
        );
        assert.equal((await device.queue.read(x))[0], 7);
        assert.throws(() => compileKernel(chosen), new RegExp(`the fixed parameter "${name}" has no value`));
        await assert.rejects(
          device.run(kernelOf([["x", view(f64)]], `({ x }, i) => { const o = { a: 1 }; x[i] = o.${name}; }`), { x }, range(1)),
          new RegExp(`the object has no field "${name}"`),
        );
        await assert.rejects(
          device.run(kernelOf([["x", view(f64)]], `({ x }, i) => { x[i] = ${name}(1); }`), { x }, range(1)),
          new RegExp(`KernelError: .*${name}`),
        );
        x.free();
      }
    });

    it("are those of scatter arrays with a strategy", async () => {
      for (const name of NAMES) {
        const histogram = kernelOf([[name, scatter(f64)]], `({ ${name}: h }, i) => { h.add(0, 1); }`);
        for (const strategy of [{}, Object.fromEntries([[name, "atomic"]])] as Record<string, "atomic">[]) {
          const x = device.array(f64, 1);
          await device.run(histogram, Object.fromEntries([[name, x]]) as never, range(3), { scatter: strategy });
          assert.deepEqual([...(await device.queue.read(x))], [3]);
          x.free();
        }
      }
    });

    it("are no parameters that were not declared, and no functions of Math", async () => {
      for (const name of [...NAMES, "__proto__"]) {
        await assert.rejects(
          results([x], "({ x }, i) => { x[i] = 1; }", [
            ["x", "x"],
            [name, 1],
          ]),
          new RegExp(`there is no parameter "${name}"`),
        );
        await assert.rejects(
          results([x], `({ x }, i) => { x[i] = Math.${name}(x[i]); }`, [["x", "x"]]),
          new RegExp(`Math.${name} is not part of the kernel language`),
        );
        if (name !== "__proto__")
          await assert.rejects(
            results([x, [name, f64]], `({ x, ${name}: a }, i) => { x[i] = a; }`, [["x", "x"]]),
            new RegExp(`${name} is f64, and is given`),
          );
      }
    });
  });

it("__proto__ is the name of a local, and of no parameter", async () => {
  const device = await open("js");
  const x = device.from(f64, [1, 2]);
  await device.run(kernelOf([["x", view(f64)]], "({ x }, i) => { const __proto__ = 3; x[i] *= __proto__; }"), { x }, range(2));
  assert.deepEqual([...(await device.queue.read(x))], [3, 6]);
  for (const token of [view(f64), f64, sum(f64), scatter(f64)])
    assert.throws(
      () =>
        device.prepare(
          kernelOf(
            [
              ["x", view(f64)],
              ["__proto__", token],
            ],
            "({ x, __proto__: p }, i) => { x[i] = 1; }",
          ),
          { x },
          range(2),
        ),
      /a parameter is called __proto__.*give it another name/,
    );
  const b = new KernelBuilder("made");
  const y = b.view("__proto__", "f64");
  b.store(y, index(0), 1);
  assert.throws(() => kernelFromIR(b.finish()), /a parameter is called __proto__/);
  await device.close();
});

it("a counter called constructor counts in the analysis of indices", async () => {
  const b = new KernelBuilder("counted");
  const y = b.view("y", "f64");
  const x = b.view("x", "f64");
  b.for("constructor", 0, 4, (n) => b.store(y, add(mul(index(0), 4), n), load(x, n)));
  const device = await open("wasm");
  const args = { y: device.array(f64, 7), x: device.from(f64, [1, 2, 3, 4]) };
  // The last element would be 7.
  assert.throws(() => device.prepare(kernelFromIR(b.finish()), args, range(2)), /with index 7 along axis 0/);
  await device.close();
});

it("are no devices", async () => {
  for (const name of [...NAMES, "__proto__"]) await assert.rejects(open(name), /there is no such device/);
});

it("are names of fields, of their parameters, of containers and of skeletons", async () => {
  for (const name of NAMES) {
    const grid = dense(jsSet(2), [4, 4]);
    const field = grid.field(name, f64);
    const once = (text: string) =>
      new Function("grid", "params", `return grid.container(${JSON.stringify(name)}, params, ${text});`)(
        grid,
        Object.fromEntries([[name, field]]),
      );
    const steps = [once(`({ ${name}: u }, c) => { u[c] = 1; }`), once(`({ ${name} }, c) => { ${name}[c] += 1; }`)];
    await skeleton(grid.set, name, steps).run(1);
    assert.ok([...(await field.download())].every((value) => value === 2));
    grid.free();
  }
});
