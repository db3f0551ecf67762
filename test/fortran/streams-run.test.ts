/* STREAmS-2's GPU kernels on devices against its CPU kernels by gfortran: 372 cases over 86 routines. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { fortran, type FortranCode } from "../../src/fortran/index.js";
import { f64, i32, open, type Device, type View } from "../../src/index.js";
import { needsGfortran } from "./gfortran.js";
import { oneDevice } from "../devices.js";
import { streamsCases, type Case } from "./streams-cases.js";
import { difference, Reference } from "./streams-reference.js";
import { needsStreams, streamsText } from "./streams.js";

/** Sums come in the order of a tree; exp, tanh and their like are those of the engine. */
const NEAR = 1e-13;
/** With products and sums contracted. */
const NEAR_CONTRACTED = 1e-12;
/** Roots of a cubic whose discriminant nearly vanishes: contraction leaves ten digits the same. */
const ILL_CONDITIONED = /^insitu_swirling_/;
const NEAR_ILL_CONDITIONED = 1e-9;
/** Loops that read elements which others of their elements write: `races` names them, and vectors have another order. */
const RACES = /^(filter|bcshock)_/;
const BATCH = 24;

/** Cases with gfortran's bits, at least. */
const BARS = { js: 331, wasm: 328, native: 364, cuda: 331 } as const;

describe("STREAmS-2's kernels run", { skip: needsStreams.skip || needsGfortran.skip }, () => {
  let code: FortranCode;
  let reference: Reference;
  const batches: { cases: Case[]; expected: ReturnType<Reference["run"]> }[] = [];
  before(() => {
    code = fortran(streamsText("singleideal/kernels_gpu.F90"), { file: "kernels_gpu.F90", kinds: { rkind: "f64", ikind: "i32" } });
    reference = new Reference();
    const all = streamsCases();
    assert.equal(all.length, 372);
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

  const gpuName = (entry: string): string => {
    const suffixes = entry.replace(/_subroutine(?=_\d+$|$)/, "_cuf").replace(/_cpu$/, "_gpu");
    return code.routines.includes(suffixes) ? suffixes : entry;
  };

  async function ran(device: Device, { entry, args }: Case): Promise<(Float64Array | Int32Array)[]> {
    const routine = code.routine(gpuName(entry));
    const given: Record<string, number | View> = {};
    args.forEach(({ bounds, data }, n) => {
      const shape = bounds?.map(([low, high]) => high - low + 1).reverse();
      given[routine.arguments[n]] = shape ? device.from(data instanceof Int32Array ? i32 : f64, data, shape) : data[0];
    });
    const results = await routine.run(device, given);
    return Promise.all(
      args.map(async ({ data }, n) => {
        const name = routine.arguments[n];
        const value = given[name];
        if (typeof value === "number")
          return data instanceof Int32Array
            ? Int32Array.of(Number(results[name] ?? value))
            : Float64Array.of(Number(results[name] ?? value));
        const read = await device.queue.read(value);
        value.free();
        return read as Float64Array | Int32Array;
      }),
    );
  }

  /** Of all cases those with gfortran's bits; all others are near, but for races. */
  async function sameBits(backend: string, precision: "strict" | "fast"): Promise<number> {
    const nearOf = (entry: string): number => {
      if (precision === "strict") return NEAR;
      return ILL_CONDITIONED.test(entry) ? NEAR_ILL_CONDITIONED : NEAR_CONTRACTED;
    };
    const device = await open(backend);
    device.precision = precision;
    let same = 0;
    for (const { cases, expected } of batches)
      for (const [n, one] of cases.entries()) {
        const found = await ran(device, one);
        const worst = Math.max(...found.map((values, m) => difference(expected[n][m], values)));
        if (worst === 0) same++;
        else if (!RACES.test(one.entry)) assert.ok(worst <= nearOf(one.entry), `${one.id} differs by ${worst}`);
      }
    await device.close();
    return same;
  }

  const chosen = oneDevice("all");
  for (const [backend, bar] of Object.entries(BARS).filter(([name]) => (chosen === "all" ? name !== "cuda" : name === chosen)))
    it(`${backend}: at least ${bar} of 372 cases have the same bits, all others differ by sums and functions`, async (t) => {
      const same = await sameBits(backend, "strict");
      t.diagnostic(`${same} cases`);
      assert.ok(same >= bar, `${same} cases`);
    });

  it("in fast mode, with products and sums contracted, they are near", async (t) => {
    t.diagnostic(`${await sameBits(chosen === "all" ? "native" : chosen, "fast")} cases have the same bits`);
  });
});
