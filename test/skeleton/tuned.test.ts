import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { f64, LaunchError } from "../../src/index.js";
import { makeGrid } from "../../src/domain/index.js";
import { skeleton, swap, tuned, DEFAULT_SETTINGS, type Resolved, type GridSettings, type Tunable } from "../../src/skeleton/index.js";
import { jsSets } from "../domain/sets.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-tuned-"));
process.env.XDG_CACHE_HOME = folder;
after(() => rmSync(folder, { recursive: true }));

/** A diffusion of vectors, which notes how it is made and freed. */
function diffusion(log: string[], { cardinality = 3, size = 12, refused = "" } = {}) {
  return ({ grid: kind, layout, ...others }: Resolved<GridSettings>): Tunable & { readonly storage: string } => {
    const storage = `${kind} ${layout}`;
    log.push(`make ${storage}`);
    if (kind === refused) throw new LaunchError(`no ${refused} grid here`);
    const [set] = jsSets;
    const grid = makeGrid(set, [size, 12, 12], { kind, layout, active: (x, y) => x + y > 6 });
    const [p, q] = ["p", "q"].map((name) => grid.field(name, f64));
    const [u, v] = ["u", "v"].map((name) => grid.field(name, f64, { cardinality: 3 }));
    const step =
      cardinality === 1
        ? grid.container("step", { p, q }, ({ p, q }, c) => {
            q[c] = 0.5 * (p.at(c, 1, 0, 0) + p.at(c, -1, 0, 0));
          })
        : grid.container("step", { u, v }, ({ u, v }, c) => {
            for (let k = 0; k < u[c].length; k++) v[c][k] = 0.5 * (u.at(c, 1, 0, 0)[k] + u.at(c, -1, 0, 0)[k]);
          });
    for (const { field } of step.uses) field.fill(1);
    const [from, to] = step.uses.map(({ field }) => field);
    const plan = skeleton(set, "diffusion", [step, swap(from, to)], { occ: others.occ });
    return {
      skeleton: plan,
      storage,
      free() {
        log.push(`free ${storage}`);
        this.skeleton.free();
        grid.free();
      },
    };
  };
}

const auto: GridSettings = { ...DEFAULT_SETTINGS, grid: "auto", layout: "auto" };
const all = ["dense soa", "dense aos", "sparse soa", "sparse aos", "bricks soa", "bricks aos"];
const made = (log: readonly string[]) => log.filter((line) => line.startsWith("make"));
const freed = (log: readonly string[]) => log.filter((line) => line.startsWith("free"));

test("each way to store the fields is measured once, and the fastest is made anew", async () => {
  const log: string[] = [];
  const found = await tuned(auto, diffusion(log));
  assert.deepEqual(
    made(log),
    [...all, found.storage].map((name) => `make ${name}`),
  );
  assert.deepEqual(
    freed(log),
    all.map((name) => `free ${name}`),
  );
  const [{ of, best, seconds }] = found.skeleton.choices;
  assert.deepEqual([of, best, Object.keys(seconds)], ["storage", found.storage, all]);
  assert.equal(
    best,
    all.reduce((least, name) => (seconds[name] < seconds[least] ? name : least)),
  );
  await found.skeleton.run(1);
  assert.match(await found.skeleton.explain(), new RegExp(`storage ${best} was the fastest: dense soa [\\d.]+ us, dense aos `));

  const again: string[] = [];
  const same = await tuned(auto, diffusion(again));
  assert.deepEqual([same.storage, same.skeleton.choices], [found.storage, found.skeleton.choices], "remembered");
  assert.ok(again.length <= 3, `${again}`);
  const larger: string[] = [];
  await tuned(auto, diffusion(larger, { size: 13 }));
  assert.equal(made(larger).length, all.length + 1, "another size is measured");
});

test("what is given is kept, and nothing is measured where there is no choice", async () => {
  for (const settings of [DEFAULT_SETTINGS, { ...DEFAULT_SETTINGS, grid: "sparse", layout: "aos" } as const]) {
    const log: string[] = [];
    const { skeleton: plan } = await tuned(settings, diffusion(log));
    assert.deepEqual([log, plan.choices], [[`make ${settings.grid} ${settings.layout}`], []]);
  }
  const log: string[] = [];
  await tuned({ ...auto, grid: "dense" }, diffusion(log, { cardinality: 1 }));
  assert.deepEqual(log, ["make dense soa"], "fields of one component have no layout");
  await tuned({ ...auto, layout: "soa" }, diffusion(log, { cardinality: 1 }), ["bricks"]);
  assert.deepEqual(log, ["make dense soa", "make bricks soa"]);
});

test("what cannot be made does not count", async () => {
  const log: string[] = [];
  const { skeleton: plan } = await tuned(auto, diffusion(log, { size: 14, refused: "dense" }));
  assert.deepEqual(Object.keys(plan.choices[0].seconds), all.slice(2));
  await assert.rejects(tuned({ ...auto, grid: "auto" }, diffusion(log, { refused: "dense" }), ["dense"]), /no dense grid here/);
});
