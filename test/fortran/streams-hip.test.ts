/* STREAmS-2's kernels as HIP, with a header in place of HIP's that runs threads one after the other, against its CPU kernels by gfortran. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { portCppSources } from "../../src/fortran/port/cpp/sources.js";
import { settingsOf } from "../../src/fortran/port/settings.js";
import { needsGfortran } from "./gfortran.js";
import { forShim, HIP_SHIM } from "./hip-shim.js";
import { streamsCases, type Case } from "./streams-cases.js";
import { difference, Reference } from "./streams-reference.js";
import { needsStreams, streamsText } from "./streams.js";

/** Sums come in another order. */
const NEAR = 1e-13;
/** Loops that read elements which others of their elements write: `races` names them. */
const RACES = /^(filter|bcshock)_/;
const BATCH = 24;

describe("STREAmS-2's kernels in HIP C++", { skip: needsStreams.skip || needsGfortran.skip }, () => {
  let original: Reference;
  let ported: Reference;
  let folder = "";
  const cases: Case[] = [];
  before(() => {
    cases.push(...streamsCases());
    original = new Reference();
    folder = mkdtempSync(join(tmpdir(), "isoform-streams-hip-"));
    ported = new Reference(built(), [], true);
  });
  after(() => {
    original?.close();
    ported?.close();
    if (folder) rmSync(folder, { recursive: true });
  });

  function built(): string[] {
    const settings = settingsOf(
      { port: { kinds: { rkind: "f64", ikind: "i32" }, rename: { hip: { _gpu: "_cpu", _cuf: "_subroutine" } } } },
      "port.toml",
    );
    const source = { file: "kernels_gpu.F90", text: streamsText("singleideal/kernels_gpu.F90") };
    const files = portCppSources([source], { targets: ["hip"], settings });
    assert.equal(files[0].loops.length, 121);
    for (const { name, text } of files) writeFileSync(join(folder, name), forShim(text));
    mkdirSync(join(folder, "hip"));
    writeFileSync(join(folder, "hip/hip_runtime.h"), HIP_SHIM);
    const [fortran, kernels] = files.map(({ name }) => name);
    const flags = ["-std=c++17", "-O1", "-ffp-contract=off", "-fwrapv", "-I.", "-c", kernels, "-o", "kernels.o"];
    execFileSync("g++", flags, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    return [fortran, "kernels.o"].map((name) => join(folder, name));
  }

  it("at least 368 of 376 cases have the same bits, all others differ by the order of sums; backwards, only loops that race do", () => {
    let same = 0;
    const changed = new Set<string>();
    for (let at = 0; at < cases.length; at += BATCH) {
      const part = cases.slice(at, at + BATCH);
      const expected = original.run(part);
      const found = ported.run(part);
      const backwards = ported.run(part, { SHIM_BACKWARDS: "1" });
      part.forEach(({ entry, id }, n) => {
        const worst = Math.max(...found[n].map((values, m) => difference(expected[n][m], values)));
        if (worst === 0) same++;
        else assert.ok(worst <= NEAR || RACES.test(entry), `${id} differs by ${worst}`);
        if (found[n].some((values, m) => difference(values, backwards[n][m]) !== 0)) changed.add(entry);
      });
    }
    assert.ok(same >= 368, `${same} cases`);
    console.log(`${same} of ${cases.length} cases have the same bits; backwards, these differ: ${[...changed].join(", ")}`);
    for (const entry of changed) assert.match(entry, RACES);
  });
});
