import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Problems } from "../../src/fortran/errors.js";
import { parse } from "../../src/fortran/parse/index.js";
import { port, type FortranTarget } from "../../src/fortran/port/index.js";
import type { NestSettings } from "../../src/fortran/port/nests.js";
import { fortranText } from "../../src/fortran/print/units.js";
import { bare } from "./parsed.js";
import { LIFTED, needsStreams, streamsFiles, streamsText } from "./streams.js";
import { arraysOf, differences, loopClauses } from "./structure.js";

/** Loops of which its port for GPUs makes another number parallel. */
const NUMBERS: Readonly<Record<string, NestSettings>> = {
  visflx_cuf: {},
  visflx_nosensor_cuf: {},
  euler_x_fluxes_hybrid_kernel: { idx: ["k", "j", "i"], num_loop: 2 },
  force_var_1_cuf: { num_loop: 2 },
  force_var_1_c2_cuf: { num_loop: 2 },
  visflx_div_cuf: { num_loop: 2 },
};

function ported(target: FortranTarget, rename: Record<string, string>): ReturnType<typeof port> {
  const problems = new Problems();
  const lifted = (name: string): NestSettings =>
    LIFTED.includes(name) ? { idx: ["k", "j", "i"], ...(target === "openmp-target" && { num_loop: 3 }) } : {};
  const loop = (name: string): NestSettings => (target === "openmp-target" && NUMBERS[name]) || lifted(name);
  const file = parse(streamsText("singleideal/kernels_gpu.F90"), { file: "kernels_gpu.F90" }, problems);
  const made = port(file, target, { rename, loop }, problems);
  problems.throwIfAny();
  assert.equal(made.loops.length, 121);
  return made;
}

describe("STREAmS-2's kernels", needsStreams, () => {
  it("on one core are its own CPU port, routine by routine", () => {
    const { text } = ported("cpu", { _gpu: "_cpu", _cuf: "_subroutine" });
    assert.deepEqual(differences(streamsText("singleideal/kernels_cpu.F90"), text), { routines: 100, different: {} });
  });

  it("with OpenMP have its clauses, all 121", () => {
    const { text } = ported("openmp", { _gpu: "_ompc", _cuf: "_subroutine" });
    assert.deepEqual(loopClauses(text), loopClauses(streamsText("singleideal/kernels_ompc.F90")));
  });

  it("with OpenMP on GPUs have its clauses, all 121, and besides private scalars", () => {
    const { text } = ported("openmp-target", { _cuf: "_kernel", kernels_gpu: "kernels_omp" });
    const theirs = loopClauses(streamsText("singleideal/kernels_omp.F90"));
    const arrays = arraysOf(text);
    const ours = loopClauses(text).map(({ routine, clauses: { private: own = [], ...clauses } }) => {
      const left = own.filter((name) => arrays.get(routine)!.includes(name));
      return { routine, clauses: left.length > 0 ? { ...clauses, private: left } : clauses };
    });
    assert.deepEqual(ours, theirs);
    assert.equal(text.match(/!\$omp declare target/g)?.length, 14);
  });

  it("keep a serial loop where it is that carries a variable from one iteration to the next", () => {
    for (const [name, carried] of [
      ["visflx_y_cuf", "dyhl"],
      ["visflx_z_cuf", "dzhl"],
    ]) {
      const problems = new Problems();
      const file = parse(streamsText("singleideal/kernels_gpu.F90"), { file: "kernels_gpu.F90" }, problems);
      const made = port(file, "cpu", {}, problems);
      const { axes } = made.loops.find((loop) => loop.name === name)!;
      port(file, "cpu", { loop: (loop) => (loop === name ? { num_loop: axes.length } : {}) }, problems);
      assert.equal(problems.found.length, 1);
      assert.match(problems.found[0].why, new RegExp(`\`${carried}\` is carried`));
    }
  });

  it("and all its other files print as Fortran that reads the same", () => {
    for (const name of streamsFiles()) {
      const problems = new Problems();
      const file = parse(streamsText(name), { file: name }, problems);
      const printed = fortranText(file);
      assert.ok(
        printed.split("\n").every((line) => line.length <= 132 || line.includes("!")),
        name,
      );
      assert.deepEqual(bare(parse(printed, { file: name }, problems)), bare(file), name);
      problems.throwIfAny();
    }
  });
});
