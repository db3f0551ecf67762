import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { f64, sum } from "../../src/index.js";
import { dense, type Container } from "../../src/domain/index.js";
import { deposit, particles } from "../../src/domain/particles/index.js";
import { skeleton, swap, type SkeletonOptions, type Step } from "../../src/skeleton/index.js";
import { PlainBox } from "../domain/particles/plain-box.js";
import { cloud, hostOf } from "../domain/particles/plasmas.js";
import { jsSet, jsSets, noise } from "../domain/sets.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-particles-"));
process.env.XDG_CACHE_HOME = folder;
after(() => rmSync(folder, { recursive: true }));

/** A charged gas in one sentence each: what it does matters less than what it needs. */
function gas(set = jsSet(2)) {
  const grid = dense(set, [6, 12], { periodic: true });
  const [rho, e] = [grid.field("rho", f64), grid.field("e", f64)];
  const ions = particles(grid, "ions", { v: [f64, 2], w: f64 });
  const { x, v, w } = ions.columns;
  const drift = ions.container("drift", { x, v }, ({ x, v }, p) => {
    for (let a = 0; a < 2; a++) x[p][a] += v[p][a];
  });
  const damp = ions.container("damp", { v }, ({ v }, p) => {
    for (let a = 0; a < 2; a++) v[p][a] *= 0.5;
  });
  const kick = ions.container("kick", { v, e }, ({ v, e }, p, c) => {
    v[p][0] += e.at(c, 0, 1) - e.at(c, 0, -1);
  });
  const count = ions.container("count", { w, rho: deposit(rho) }, ({ w, rho }, p, c) => {
    rho.add(c, 0, 0, w[p]);
    rho.add(c, 1, 1, 1);
  });
  const clear = grid.container("clear", { rho }, ({ rho }, c) => void (rho[c] = 0));
  const solve = grid.container("solve", { rho, e }, ({ rho, e }, c) => {
    e[c] = (rho[c] - rho.at(c, 0, -1)) / 64;
  });
  const box = new PlainBox([6, 12], [true, true]);
  const start = (): void => {
    const { x, v, w } = hostOf(cloud(80, box, 0.5));
    ions.load({ x, v: Array.from(v).filter((_, n) => n % 3 < 2), w });
    e.fill((x, y) => noise(x, y) / 8);
    rho.fill(0);
  };
  const state = async () => {
    const { x, v, w } = await ions.download();
    return [x, v, w, await rho.download(), await e.download()].map((list) => [...list]);
  };
  start();
  return { set, grid, ions, rho, e, drift, damp, kick, count, clear, solve, start, state };
}

/** Names of what a skeleton runs, in order, in its steady state. */
async function tasksOf(set: (typeof jsSets)[number], steps: readonly Step[], options: SkeletonOptions = {}): Promise<string[]> {
  const text = await skeleton(set, "order", steps, { occ: "none", ...options }).explain();
  return [...text.split("Tasks in the order of launches")[1].matchAll(/^ +\d+ +stream \d+ +(\S.*?)(?: {2,}.*)?$/gm)].map((m) => m[1]);
}

describe("the planner", () => {
  const sorts = async (steps: readonly Step[], options?: SkeletonOptions) => {
    const { set } = made;
    return (await tasksOf(set, steps, options)).filter((name) => name.startsWith("sort")).length;
  };
  const made = gas();

  it("sorts once a step, after particles have moved and before their cells matter", async () => {
    const { set, drift, kick, count, clear, solve } = made;
    const tasks = await tasksOf(set, [kick, drift, clear, count, solve], { fuse: false });
    const order = ["kick", "drift", "pack ions", "move ions", "sort ions", "count", "gather rho", "solve"];
    assert.deepEqual(
      tasks.filter((name) => order.includes(name)),
      order,
    );
    assert.equal(tasks.filter((name) => name === "sort ions").length, 1);
    assert.ok(!(await tasksOf(jsSet(1), gas(jsSet(1)).drift)).some((name) => /pack|move/.test(name)), "nobody leaves a single member");
  });

  it("does not sort where positions stay, nor where nobody asks for cells", async () => {
    const { drift, damp, kick, count, clear } = made;
    assert.equal(await sorts([kick, damp, clear, count]), 0);
    assert.equal(await sorts([drift, damp]), 0);
    assert.equal(await sorts([drift, damp, drift, count]), 1);
    assert.equal(await sorts([drift, count, count, kick]), 1);
    assert.equal(await sorts([drift, kick, drift, count]), 2);
    assert.equal(await sorts([drift, kick], { unroll: 3 }), 3);
  });

  it("sorts before containers whose code asks for the cell only once for all particles", async () => {
    const { grid, ions, e, drift } = gas();
    const { v } = ions.columns;
    const where = ions.container("where", { v }, ({ v }, p, c) => {
      v[p][0] += 2 * c.x;
    });
    const field = ions.container("field", { v, e }, ({ v, e }, p, c) => {
      v[p][0] = e[c];
    });
    const active = ions.container("active", { v, e }, ({ v, e }, p, c) => {
      if (e.isActive(c, 1, 0)) v[p][0] = 1;
    });
    for (const container of [where, field, active])
      assert.equal((await tasksOf(grid.set, [drift, container])).filter((name) => name === "sort ions").length, 1);
  });

  it("keeps movers and those that ask for cells in their order, whatever saves traffic", async () => {
    const { set, ions, drift, count, clear, solve, damp, start, state } = made;
    const steps = [clear, count, drift, solve, damp, clear, count, solve, drift];
    const results = [];
    for (const fuse of [false, true]) {
      start();
      await skeleton(set, "order", steps, { fuse, precision: "strict" }).run(2);
      results.push(await state());
    }
    assert.deepEqual(results[1], results[0]);
    const kept = async (fuse: boolean) => (await tasksOf(set, steps, { fuse })).filter((name) => /^(drift|count|sort)/.test(name));
    assert.deepEqual(await kept(true), await kept(false));
    await ions.check("all");
  });

  it("gives what its containers give one by one, beside swaps of fields", async () => {
    const results = [];
    for (const set of [jsSet(1), jsSet(3)])
      for (const whole of [false, true]) {
        const { grid, rho, e, kick, drift, clear, count, solve, state, start } = gas(set);
        const next = grid.field("next", f64);
        const copy = grid.container("copy", { e, next }, ({ e, next }, c) => {
          next[c] = 0.5 * (e.at(c, 0, 1) + e[c]);
        });
        start();
        const steps: (Container | ReturnType<typeof swap>)[] = [kick, drift, clear, count, solve, copy].flat();
        if (whole) await skeleton(set, "swaps", [...steps, swap(e, next), swap(rho, next)], { precision: "strict", unroll: 2 }).run(5);
        else
          for (let turn = 0; turn < 5; turn++) {
            for (const step of steps) await grid.run(step as Container, { precision: "strict" });
            e.swap(next);
            rho.swap(next);
          }
        results.push([...(await state()), [...(await next.download())]]);
      }
    for (const result of results) assert.deepEqual(result, results[0]);
  });

  it("ends a run in which particles are lost with the skeleton's name", async () => {
    const grid = dense(jsSet(3), [4, 6]);
    const ions = particles(grid, "ions", {});
    const total = grid.scalar("total", f64);
    const { x } = ions.columns;
    const fall = ions.container("fall", { x, total: sum(total) }, ({ x, total }, p, c) => {
      x[p][1] += 0.5;
      total.add(c.y);
    });
    ions.load({ x: [1.5, 3.5, 2.5, 0.5] });
    const all = skeleton(grid.set, "falling", [fall], { precision: "strict" });
    await all.run(4);
    assert.equal(await total.get(), 7);
    await assert.rejects(
      all.run(4),
      /^IsoformError: skeleton "falling": 1 particle of "ions" has left the grid, at \[1.5,6\] on js\*3\[2\]; use/,
    );
    ions.load({ x: [1.5, 3.5] });
    await all.run(4);
  });
});

describe("what is explained about particles", () => {
  const { set, kick, drift, clear, count, solve } = gas();
  const all = skeleton(set, "gas", [kick, drift, clear, count, solve], { occ: "standard", precision: "strict" });

  it("is why they are sorted, in the text", async () => {
    const text = await all.explain();
    assert.match(text, /\n {2}kick +particles \+ stencil +reads e and 2 neighbours, ions\.v +writes ions\.v +particles\.test\.ts:\d+\n/);
    assert.match(text, /\n {2}drift +particles +reads ions\.x, ions\.v +writes ions\.x /);
    assert.match(text, /\nSorts\n {2}count asks for the cells of ions, whose positions have changed since they were sorted\n/);
    assert.match(text, /\n {2}pack ions -> move ions +read after write of ions that leave\n/);
    assert.match(text, /\n {2}move ions -> sort ions +read after write of ions that arrive\n/);
  });

  it("is what is packed, moved and sorted, in drawings", async () => {
    const [dot, svg] = [await all.explain("dot"), await all.explain("svg")];
    for (const kind of ["pack", "move", "sort"]) {
      assert.match(dot, new RegExp(`label="${kind} ions\\\\nstream \\d", fillcolor="#`));
      assert.match(svg, new RegExp(`class="${kind}"`));
      assert.match(svg, new RegExp(`\\.${kind}[,{]`), "it has a colour");
    }
  });

  it("is when, in timelines", async () => {
    await all.run(2, { trace: true });
    const [text, svg, trace] = [await all.timeline(), await all.timeline("svg"), await all.timeline("trace")];
    const { traceEvents } = JSON.parse(trace) as { traceEvents: { name: string; cat: string }[] };
    for (const kind of ["pack", "move", "sort"]) {
      assert.match(text, new RegExp(`\\n +\\w  ${kind} ions +[\\d.]+ µs +[\\d.]+ µs`));
      assert.ok(traceEvents.some(({ name, cat }) => name === `${kind} ions` && cat === kind));
      assert.match(svg, new RegExp(`\\.${kind}[,{]`), "it has a colour");
    }
  });
});

it("choosing the level of overlap leaves particles as they were", async () => {
  const results = [];
  for (const occ of ["none", "auto"] as const) {
    const { set, ions, kick, drift, clear, count, solve, state } = gas(jsSet(3));
    const all = skeleton(set, "gas", [kick, drift, clear, count, solve], { occ, precision: "strict" });
    await all.run(3);
    await ions.check("gas");
    results.push(await state());
    if (occ === "auto") assert.equal(all.choices.length, 1);
  }
  assert.deepEqual(results[1], results[0]);
});

it("and what is tried out loses no particles for good", async () => {
  const grid = dense(jsSet(3), [4, 6]);
  const ions = particles(grid, "ions", {});
  const { x } = ions.columns;
  const fall = ions.container("fall", { x }, ({ x }, p, c) => {
    x[p][1] += 0.5 + 0 * c.x;
  });
  ions.load({ x: [1.5, 4.5] });
  await skeleton(grid.set, "falling", fall, { occ: "auto", precision: "strict" }).run(2);
  assert.deepEqual([...(await ions.download()).x], [1.5, 5.5]);
});
