import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { devices } from "isoform/set";
import { cavity } from "../../../apps/lbm/cavity.js";
import { D2Q9 } from "../../../apps/lbm/lattice.js";
import { cylinder } from "../../../apps/lbm/obstacle.js";
import { runToSteadyState, watchForce, type AnyWatch } from "../../../apps/lbm/run.js";
import { Interrupted, keeper, openSaved, restoreFlow } from "../../../apps/lbm/saving.js";
import { Simulation, type Flow, type Settings } from "../../../apps/lbm/simulation.js";
import { vortex, watchDecay } from "../../../apps/lbm/vortex.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-lbm-"));
after(() => rmSync(folder, { recursive: true }));

interface Way {
  readonly name: string;
  readonly flow: Flow;
  readonly settings: Partial<Settings>;
  readonly others: Partial<Settings>;
  run(simulation: Simulation, watch: AnyWatch): Promise<unknown>;
}

const STRICT = { precision: "strict" } as const;
const WAYS: readonly Way[] = [
  {
    name: "cylinder",
    flow: cylinder({ reynolds: 40, size: 6, speed: 0.1 }),
    settings: { ...STRICT, wall: "interpolated" },
    others: { grid: "sparse", layout: "aos" },
    run: (simulation, watch) => watchForce(simulation, { interval: 7, steps: 60 }, watch),
  },
  {
    name: "cavity",
    flow: cavity({ reynolds: 100, size: 16, speed: 0.1, lattice: D2Q9 }),
    settings: { ...STRICT, pattern: "aa" },
    others: {},
    run: (simulation, watch) => runToSteadyState(simulation, { interval: 20, tolerance: 1e-9, steps: 130 }, watch),
  },
  {
    name: "vortex",
    flow: vortex({ reynolds: 20, size: 12, speed: 0.05, lattice: D2Q9 }),
    settings: STRICT,
    others: { layout: "aos" },
    run: (simulation, watch) => watchDecay(simulation, 57, watch),
  },
];

for (const { name, flow, settings, others, run } of WAYS)
  test(`${name}: a run that was ended goes on elsewhere with the bits of one that was not`, async () => {
    const one = await devices("js");
    const whole = await Simulation.create(one, flow, settings);
    const expected = await run(whole, {});
    const file = join(folder, name);
    const stop = new AbortController();
    const first = await Simulation.create(one, flow, settings);
    const saving = { case: name, options: { re: 40 }, file, every: 2, stop: stop.signal };
    const keep = keeper(first, saving);
    let intervals = 0;
    const ended = run(first, {
      keep: async (samples, isLast) => {
        if (++intervals === 5) stop.abort();
        await keep(samples, isLast);
      },
    });
    await assert.rejects(ended, Interrupted);
    const saved = await openSaved(file, name, {});
    assert.equal(saved.place.steps, first.steps);
    const two = await devices(settings.pattern === "aa" ? "js" : "wasm*2");
    const rest = await Simulation.create(two, flow, { ...settings, ...others });
    await restoreFlow(rest, saved);
    const found = await run(rest, {
      samples: saved.place.samples as never[],
      keep: keeper(rest, { ...saving, stop: new AbortController().signal }),
    });
    assert.deepEqual(found, expected);
    assert.deepEqual([rest.steps, await rest.velocity.download()], [whole.steps, await whole.velocity.download()]);
    assert.equal((await openSaved(file, name, { re: 40 })).place.steps, whole.steps, "the end is saved, too");
    for (const simulation of [whole, first, rest]) simulation.free();
    for (const set of [one, two]) await set.close();
  });

test("another case, other options and other files are refused", async () => {
  const file = join(folder, "cylinder");
  await assert.rejects(openSaved(file, "cavity", {}), /is of the case cylinder: run isoform lbm cylinder/);
  await assert.rejects(openSaved(file, "cylinder", { re: 50 }), /was made with re 40, and 50 is asked for: leave it out, or start anew/);
  const other = join(folder, "other");
  writeFileSync(other, "hello");
  await assert.rejects(openSaved(other, "cylinder", {}), /is not a checkpoint/);
});
