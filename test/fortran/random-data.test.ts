/* Random routines that keep arrays on a device: what they leave with two memories is what they leave with one. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
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

describe("random routines with data on a device", needsGfortran, () => {
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
    it(`show ${what} that are not heeded`, () => {
      for (let seed = 1; seed <= SEEDS; seed++) {
        const { text, names } = randomData(seed, MANY);
        const changed = change(text);
        if (changed !== text && asHip(changed + dataProgram(names)).output !== asWritten(text + dataProgram(names)).output) return;
      }
      assert.fail("all routines leave what they should");
    });
});
