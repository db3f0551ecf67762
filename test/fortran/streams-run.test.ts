/* STREAmS-2's GPU kernels on devices against its CPU kernels by gfortran: 376 cases over 86 routines. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { fortran, type FortranCode } from "../../src/fortran/index.js";
import { hooks } from "../../src/device/tools/hooks.js";
import { open } from "../../src/index.js";
import { needsGfortran } from "./gfortran.js";
import { oneDevice } from "../devices.js";
import { streamsCases, type Case } from "./streams-cases.js";
import { NEAR, ranOnDevice } from "./streams-device.js";
import { difference, Reference } from "./streams-reference.js";
import { needsStreams, streamsText } from "./streams.js";

/** With products and sums contracted. */
const NEAR_CONTRACTED = 1e-12;
/** Roots of a cubic whose discriminant nearly vanishes: contraction leaves ten digits the same. */
const ILL_CONDITIONED = /^insitu_swirling_/;
const NEAR_ILL_CONDITIONED = 1e-9;
/** Loops that read elements which others of their elements write: `races` names them, and vectors have another order. */
const RACES = /^(filter|bcshock)_/;
const BATCH = 24;

/** Cases with gfortran's bits, at least. */
const BARS = { js: 335, wasm: 332, native: 368, cuda: 331 } as const;

describe("STREAmS-2's kernels run", { skip: needsStreams.skip || needsGfortran.skip }, () => {
  let code: FortranCode;
  let reference: Reference;
  const batches: { cases: Case[]; expected: ReturnType<Reference["run"]> }[] = [];
  before(() => {
    code = fortran(streamsText("singleideal/kernels_gpu.F90"), { file: "kernels_gpu.F90", kinds: { rkind: "f64", ikind: "i32" } });
    reference = new Reference();
    const all = streamsCases();
    assert.equal(all.length, 376);
    for (let at = 0; at < all.length; at += BATCH) {
      const cases = all.slice(at, at + BATCH);
      batches.push({ cases, expected: reference.run(cases) });
    }
  });
  after(() => reference?.close());

  it("all 121 of them are kernels; 15 are not proved free of races", () => {
    assert.equal(code.kernels.size, 121);
    const racing = [...code.kernels.values()].filter((kernel) => kernel.races().length > 0).map(({ name }) => name);
    assert.equal(racing.length, 15, racing.join(", "));
    for (const name of ["filter_cuf#1", "filter_cuf#2", "bcshock_cuf"]) assert.ok(racing.includes(name), name);
  });

  /** Of all cases those with gfortran's bits; all others are near, but for races. */
  async function sameBits(backend: string, precision: "strict" | "fast"): Promise<number> {
    const nearOf = (entry: string): number => {
      if (precision === "strict") return NEAR;
      return ILL_CONDITIONED.test(entry) ? NEAR_ILL_CONDITIONED : NEAR_CONTRACTED;
    };
    const device = await open(backend, { print: () => {} });
    device.precision = precision;
    let same = 0;
    for (const { cases, expected } of batches)
      for (const [n, one] of cases.entries()) {
        const found = await ranOnDevice(code, device, one);
        const worst = Math.max(...found.map((values, m) => difference(expected[n][m], values)));
        if (worst === 0) same++;
        else if (!RACES.test(one.entry)) assert.ok(worst <= nearOf(one.entry), `${one.id} differs by ${worst}`);
      }
    await device.close();
    return same;
  }

  const chosen = oneDevice("all");
  for (const [backend, bar] of Object.entries(BARS).filter(([name]) => (chosen === "all" ? name !== "cuda" : name === chosen)))
    it(`${backend}: at least ${bar} of 376 cases have the same bits, all others differ by sums and functions`, async (t) => {
      const reached = new Set<string>();
      const detach = hooks.attach({ beginKernel: ({ label }) => void reached.add(label) });
      const same = await sameBits(backend, "strict");
      detach();
      t.diagnostic(`${same} cases`);
      assert.deepEqual(
        [...code.kernels.keys()].filter((name) => !reached.has(name)),
        [],
        "loops that no case reaches",
      );
      assert.ok(same >= bar, `${same} cases`);
    });

  it("in fast mode, with products and sums contracted, they are near", async (t) => {
    t.diagnostic(`${await sameBits(chosen === "all" ? "native" : chosen, "fast")} cases have the same bits`);
  });
});
