/* What kernels print beyond the conformance suite: failures, containers, messages, files of other languages. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { dense } from "../../src/domain/index.js";
import { contiguousRows, cubicSizes, TARGETS } from "../../src/emit/standalone/index.js";
import { f64, i32, kernel, open, print, range, sum, teamKernel, view } from "../../src/index.js";
import { add, index, KernelBuilder, load, printKernel as text } from "../../src/ir/index.js";
import { compileKernel } from "../../src/kernel/compile.js";
import { kernelFromIR } from "../../src/kernel/declare/from-ir.js";
import { devices } from "../../src/set/index.js";
import { fuse } from "../../src/skeleton/fusion/fusion.js";
import { skeleton } from "../../src/skeleton/index.js";
import { NODE_DEVICES } from "../devices.js";

const show = kernel("show", { x: view(f64), at: view(i32), y: view(f64) }, ({ x, at, y }, i) => {
  print("before", i);
  y[i] = x[at[i]];
});

describe("lines", () => {
  for (const name of NODE_DEVICES)
    it(`are there where a launch fails, on ${name}`, async () => {
      const lines: string[] = [];
      const device = await open(name, { checked: true, print: (line) => void lines.push(line) });
      const args = { x: device.array(f64, 3), at: device.from(i32, [0, 7, 1]), y: device.array(f64, 3) };
      await assert.rejects(async () => device.run(show, args, range(3)), /7/);
      assert.ok(lines.includes("before 0") && lines.includes("before 1"), lines.join());
      await device.close();
    });

  it("go to the console where nothing else is said, and at once from a plain call", async () => {
    const { log } = console;
    const lines: unknown[] = [];
    console.log = (line: unknown) => void lines.push(line);
    try {
      const device = await open("js");
      await device.run(show, { x: device.array(f64, 1), at: device.array(i32, 1), y: device.array(f64, 1) }, range(1));
      print("plain", -0, true);
      await device.close();
    } finally {
      console.log = log;
    }
    assert.deepEqual(lines, ["before 0", "plain -0 true"]);
  });

  it("of the IR have items and a place", async () => {
    const b = new KernelBuilder("lines");
    const x = b.view("x", "f64");
    b.print("x", index(0), add(load(x, index(0)), 0.5));
    assert.match(text(b.finish()), /print "x", i, x\[i\] \+ 0\.5/);
    const lines: string[] = [];
    const device = await open("wasm", { print: (line) => void lines.push(line) });
    await device.run(kernelFromIR(b.finish()), { x: device.from(f64, [1, 2]) }, range(2));
    assert.deepEqual(lines.sort(), ["x 0 1.5", "x 1 2.5"]);
    await device.close();
  });
});

describe("containers that print", () => {
  it("print a line for each cell, and are not fused", async () => {
    const lines: string[] = [];
    const set = await devices("js*2");
    for (const { device } of set.locals) device.print = (line) => void lines.push(line);
    const grid = dense(set, [8, 3]);
    const u = grid.field("u", f64);
    const v = grid.field("v", f64);
    const total = grid.scalar("total", f64);
    const write = grid.container("write", { u }, ({ u }, c) => {
      u[c] = c.x + 10 * c.y;
    });
    const read = grid.container("read", { u, v, total: sum(total) }, ({ u, v, total }, c) => {
      v[c] = u.at(c, 1, 0) + u.at(c, -1, 0);
      print("cell", c.x, c.y, v[c]);
      total.add(1);
    });
    const steps = skeleton(set, "steps", [write, read], { occ: "standard" });
    await steps.run(1);
    assert.equal(await total.get(), 24);
    assert.equal(new Set(lines).size, 24);
    assert.equal(lines.length, 24);
    assert.ok(lines.includes("cell 3 1 26"), lines.join("; "));
    assert.match(fuse([write, read]).remarks.join(), /"read" prints/);
    await set.close();
  });
});

describe("files of other languages", () => {
  const team = teamKernel("team", { x: view(i32) }, ({ x }, team) => {
    print("team", team.index, team.index > 2);
    x[team.index] = 1;
  });
  const emit = (name: keyof typeof TARGETS) => {
    const { ir, access } = compileKernel(team);
    return TARGETS[name]({ ir, access, precision: "strict", stem: "team", unitStrides: contiguousRows(ir), sizes: cubicSizes(ir, 4) })[0]
      .text;
  };
  for (const name of ["c", "omp-target", "cuda", "hip"] as const)
    it(`have printf in ${name}`, () => {
      assert.match(emit(name), /#include <c?stdio(\.h)?>/);
      assert.match(emit(name), /printf\("team %d %s\\n", .*\? "true" : "false"\)/);
    });
  it("print by one member of a team", () => assert.match(emit("cuda"), /if \(thread == 0\) \{( *\/\/ line \d+)?\n\s*printf/));
  it("have printf in opencl", () => assert.match(emit("opencl"), /printf\("team %d %d\\n"/));
  it("have console.log in js", () => assert.match(emit("js"), /console\.log\("team", team, team > 2\)/));
  for (const name of ["sycl", "wat", "wgsl"] as const)
    it(`are refused for ${name}`, () =>
      assert.throws(() => emit(name), /kernel "team" cannot be written for \w+: its kernels have no way to print/));
});
