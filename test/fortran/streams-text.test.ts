/* STREAmS-2's GPU kernels, written again as Fortran for CPUs and compiled by gfortran, against its own CPU kernels: 376 cases over 86 routines. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { portSources, settingsOf, type FortranTarget } from "../../src/fortran/index.js";
import { needsGfortran } from "./gfortran.js";
import { streamsCases } from "./streams-cases.js";
import { difference, Reference } from "./streams-reference.js";
import { needsStreams, streamsFile, streamsText } from "./streams.js";

/** Threads add up in another order; of `filter`, one reads what another writes. */
const NEAR = 1e-13;
const RACES = /^filter_/;
const cases = needsStreams.skip ? [] : streamsCases();

describe("STREAmS-2's kernels as text", { skip: needsStreams.skip || needsGfortran.skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), "isoform-streams-text-"));
  let expected: ReturnType<Reference["run"]>;
  const run = (file: string, flags: readonly string[] = []): typeof expected => {
    const reference = new Reference([file], flags);
    try {
      return reference.run(cases);
    } finally {
      reference.close();
    }
  };
  before(() => void (expected = run(streamsFile("singleideal/kernels_cpu.F90"))));
  after(() => rmSync(folder, { recursive: true }));

  /** The cases with the same bits, and how far the others are off. */
  function compared(target: FortranTarget, flags: readonly string[]): { same: number; far: string[] } {
    const sources = [{ file: "kernels_gpu.F90", text: streamsText("singleideal/kernels_gpu.F90") }];
    const rename = { [target]: { _gpu: "_cpu", _cuf: "_subroutine" } };
    const [{ text }] = portSources(sources, { targets: [target], settings: settingsOf({ port: { rename } }, "port.toml") });
    const file = join(folder, `${target}.F90`);
    writeFileSync(file, text);
    let same = 0;
    const far: string[] = [];
    for (const [n, found] of run(file, flags).entries()) {
      const worst = Math.max(...found.map((values, m) => difference(expected[n][m], values)));
      if (worst === 0) same++;
      else if (worst > NEAR && !RACES.test(cases[n].entry)) far.push(`${cases[n].id} differs by ${worst}`);
    }
    return { same, far };
  }

  it("on one core: all 376 cases have the same bits", () => {
    assert.deepEqual(compared("cpu", []), { same: 376, far: [] });
  });

  it("on 4 threads: at least 366, and the others differ by the order of sums", () => {
    const { same, far } = compared("openmp", ["-fopenmp"]);
    assert.deepEqual(far, []);
    assert.ok(same >= 366, `${same} cases`);
  });
});
