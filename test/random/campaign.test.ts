import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { campaign } from "./campaign.js";
import { Mismatch, Unsound } from "./check.js";
import { sourceOf, type Program } from "./program.js";

const check =
  (fails: (source: string) => Error | undefined) =>
  (program: Program): Promise<void> => {
    const error = fails(sourceOf(program));
    return error ? Promise.reject(error) : Promise.resolve();
  };

describe("a campaign of random kernels", () => {
  it("shrinks what fails to a few lines, and says how to repeat it", async () => {
    const wrong = check((source) => (/Math\.imul/.test(source) ? new Mismatch(`imul is wrong\n${source}`) : undefined));
    await assert.rejects(campaign({ runs: 300, seed: 5, check: wrong }), (error: Error) => {
      assert.match(error.message, /^kernel \d+ of seed 5: imul is wrong\n/);
      const body = error.message.slice(error.message.indexOf("=> {"), error.message.indexOf("\n}"));
      assert.ok(body.split("\n").length <= 4, error.message);
      return true;
    });
  });
  it("fails for a program that is refused, but not while it shrinks another", async () => {
    await assert.rejects(campaign({ runs: 5, seed: 1, check: check(() => new Unsound("refused")) }), /^Unsound: refused/);
    const wrong = check((source) => (/hist\.add/.test(source) ? new Mismatch(source) : undefined));
    const fragile = (program: Program): Promise<void> =>
      program.body.stmts.length < 2 ? Promise.reject(new Unsound("too short")) : wrong(program);
    await assert.rejects(campaign({ runs: 300, seed: 1, check: fragile }), /^Error: kernel \d+ of seed 1:[^]*hist\.add/);
  });
  it("makes the same kernels from the same seed", async () => {
    const list = async (seed: number): Promise<string[]> => {
      const sources: string[] = [];
      await campaign({ runs: 20, seed, check: check((source) => void sources.push(source)) });
      return sources;
    };
    assert.deepEqual(await list(3), await list(3));
    assert.notDeepEqual(await list(3), await list(4));
  });
});
