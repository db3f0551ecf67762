/* Random routines that keep arrays on a device: what they leave with two memories is what they leave with one. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { open, type Device } from "../../src/index.js";
import { runData } from "./data-differences.js";
import { asHip, asOpenmpTarget, asWritten } from "./data-programs.js";
import { needsGfortran } from "./gfortran.js";
import { dataProgram, randomData } from "./random-data.js";

const MANY = 12;
const SEEDS = 4;

/** Changes of a port that takes no notice of something. */
const FAULTS: Readonly<Record<string, (text: string) => string>> = {
  "updates of the host": (text) => text.replace(/!\$acc update self.*|!\$omp target update from.*/g, ""),
  "updates of the device": (text) => text.replace(/!\$acc update device.*|!\$omp target update to.*/g, ""),
  "results of regions": (text) => text.replace(/(!\$acc data.*)\bcopy\(/g, "$1copyin("),
  "results at exit": (text) => text.replace(/(exit data )copyout/g, "$1delete"),
  "values that regions begin with": (text) => text.replace(/(!\$acc data.*)\bcopyin\(/g, "$1create("),
  "values that are entered": (text) => text.replace(/(enter data )copyin/g, "$1create"),
  "a second entry": (text) => text.replace(/exit data (copyout|delete)\((.*)\)/g, "exit data $1($2) finalize"),
};

/** Lines of each routine: of its three arrays. */
const linesOf = (output: string): string[] => {
  const lines = output.split("\n");
  return Array.from({ length: MANY }, (_, n) => lines.slice(3 * n, 3 * n + 3).join("\n"));
};

describe("random routines with data on a device", needsGfortran, () => {
  let device: Device;
  before(async () => void (device = await open("js")));
  after(() => device.close());

  for (let seed = 1; seed <= SEEDS; seed++)
    it(`leave the same, seed ${seed}`, () => {
      const { text, names } = randomData(seed, MANY);
      const whole = text + dataProgram(names);
      const { output } = asWritten(whole);
      assert.equal(output.split("\n").length, 3 * MANY + 1);
      assert.equal(asOpenmpTarget(whole).output, output);
      const { output: found, errors } = asHip(whole);
      assert.equal(found, output, errors);
    });

  for (const [what, change] of Object.entries(FAULTS))
    it(`show ${what} that are not heeded, and their differences are listed`, async () => {
      for (let seed = 1; seed <= SEEDS; seed++) {
        const { text, names } = randomData(seed, MANY);
        const changed = change(text);
        if (changed === text) continue;
        const [found, right] = [asHip(changed + dataProgram(names)), asWritten(text + dataProgram(names))].map(({ output }) =>
          linesOf(output),
        );
        const different = names.filter((_, n) => found[n] !== right[n]);
        const ran = await runData(device, changed, different);
        assert.deepEqual(
          different.filter((_, n) => ran[n].counts.differences.length === 0),
          [],
          "routines whose differences are not listed",
        );
        if (different.length > 0) return;
      }
      assert.fail("all routines leave what they should");
    });
});
