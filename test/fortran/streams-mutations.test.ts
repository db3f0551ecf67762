/* Would the cases of STREAmS-2's kernels show a wrong translation? Places of the kernels are changed, one at a time: gfortran's bits are lost. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fortran, type FortranCode } from "../../src/fortran/index.js";
import { IsoformError, open } from "../../src/index.js";
import { sequence } from "../random/data.js";
import { needsGfortran } from "./gfortran.js";
import { gpuName, NEAR, ranOnDevice } from "./streams-device.js";
import { Mutants, MUTATIONS, type Mutant } from "./streams-mutants.js";
import { streamsCases, type Case } from "./streams-cases.js";
import { difference, Reference } from "./streams-reference.js";
import { needsStreams } from "./streams.js";

const MANY = 20;
const SEED = 1;
/** Drawn places that no input shows: a velocity that a curl does not need, a maximum's start below all values. */
const UNSHOWN = ["index, insitu_omega_cuf, line 7866 (10 of 72)", "value before, compute_rho_t_p_minmax_cuf, line 6984 (2 of 6)"];

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/** What `make` gives, or why it is refused. */
async function orMessage<T>(make: () => Promise<T>): Promise<T | string> {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof IsoformError)) throw error;
    return error.message.split("\n")[0];
  }
}

describe("STREAmS-2's kernels, changed", { skip: needsStreams.skip || needsGfortran.skip }, () => {
  it(`${MANY} changes are seen`, async (t) => {
    const next = sequence(SEED);
    const pick = (below: number): number => Math.floor(next() * below);
    const mutants = new Mutants();
    const reference = new Reference();
    const all = streamsCases();
    const device = await open("js", { print: () => {} });
    device.precision = "strict";
    const read = (text: string): FortranCode => fortran(text, { kinds: { rkind: "f64", ikind: "i32" } });
    const worst = async (code: FortranCode, one: Case, expected: Awaited<ReturnType<typeof ranOnDevice>>): Promise<number> => {
      const found = await ranOnDevice(code, device, one);
      return Math.max(...found.map((values, m) => difference(expected[m], values)));
    };
    /** The first case that shows the change. */
    async function shown({ routines, text }: Mutant): Promise<string | undefined> {
      for (const routine of routines) {
        const cases = all.filter(({ entry }) => gpuName([routine], entry) === routine);
        if (cases.length === 0) continue;
        const expected = reference.run(cases);
        const original = read(text(routine, false));
        const mutant = lazily(() => read(text(routine, true)));
        for (const [n, one] of cases.entries()) {
          const before = await worst(original, one, expected[n]);
          // An index that leaves its array is refused.
          const after = await orMessage(async () => worst(mutant(), one, expected[n]));
          if (typeof after === "string") return after;
          if (!(after <= (before === 0 ? 0 : NEAR))) return `${one.id} differs by ${after}`;
        }
      }
      return undefined;
    }
    try {
      const unseen: string[] = [];
      for (let n = 0; n < MANY + unseen.length; n++) {
        const kind = MUTATIONS[n % MUTATIONS.length];
        let made = mutants.mutant(kind, pick);
        while (!made) made = mutants.mutant(kind, pick);
        const seen = await shown(made);
        t.diagnostic(`${made.what}: ${seen ?? "not seen"}`);
        if (seen === undefined) unseen.push(made.what);
      }
      assert.deepEqual(unseen, UNSHOWN);
    } finally {
      await device.close();
      reference.close();
    }
  });
});
