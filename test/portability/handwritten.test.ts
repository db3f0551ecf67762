import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { delimiter } from "node:path";
import { describe, it } from "node:test";
import { application as elasticity } from "../../apps/elasticity/application.js";
import { application as gsr } from "../../apps/gsr/application.js";
import { application as lbm } from "../../apps/lbm/application.js";
import { application as pic } from "../../apps/pic/application.js";
import { application as poisson } from "../../apps/poisson/application.js";
import { application as stream } from "../../apps/stream/application.js";
import { findCompiler } from "../../src/device/native/compiler.js";
import { isTimed } from "../../src/portability/cells.js";
import { assess } from "../../src/portability/assessment.js";
import { measureApplications } from "../../src/portability/campaign.js";
import { compileProgram } from "../../src/portability/handwritten/compile.js";
import { prepareProgram } from "../../src/portability/handwritten/prepare.js";

const APPLICATIONS = [elasticity, gsr, lbm, pic, poisson, stream];
const SMALL = { gib: 1e-4, iterations: 3 };
/** No smaller one has enough observations. */
const LEAST = { gsr: { ...SMALL, gib: 2e-3 } };
const smallOf = ({ name }: { readonly name: string }): typeof SMALL =>
  Object.hasOwn(LEAST, name) ? LEAST[name as keyof typeof LEAST] : SMALL;

if (process.env.ISOFORM_NVCC) process.env.PATH = `${process.env.ISOFORM_NVCC}${delimiter}${process.env.PATH}`;

describe("hand-written programs in C", { skip: findCompiler() ? false : "no C compiler" }, () => {
  const works = [
    ...APPLICATIONS.map((application) => ({ application, given: { globals: 0 as 0 | 1 } })),
    { application: gsr, given: { globals: 1 as 0 | 1 } },
  ];
  for (const { application, given } of works)
    it(`${application.name}${given.globals ? " with a global section" : ""} gives the right result, twice, and a wrong one is found`, async () => {
      let spoilt = false;
      const work = await application.byHand!({ ...smallOf(application), ...given });
      const validate: typeof work.validate = (outputs) => {
        // In the last array but the scalars: of the solution, the residual, the populations.
        const array = outputs.findLast(({ length }) => length > 1)!;
        for (let i = 0; spoilt && i < array.length; i += 7) array[i] += 1e-3;
        return work.validate(outputs);
      };
      const program = await prepareProgram({ ...work, validate }, "c", 0);
      try {
        for (let run = 0; run < 2; run++) {
          const samples = await program.run();
          assert.deepEqual(
            samples.map(({ quantity, seconds }) => [quantity, seconds > 0 && seconds < 1]),
            work.quantities.flatMap((quantity) => (quantity === undefined ? [] : [[quantity, true]])),
          );
          assert.ok((await program.validate()).ok);
        }
        spoilt = true;
        assert.ok(!(await program.validate()).ok);
      } finally {
        program.free();
      }
    });

  it("they stand beside the applications, with the same problem and work", async () => {
    const silent = () => ({ update() {}, done() {} });
    const evidence = await measureApplications([poisson], { devices: ["js"], quick: true, repeats: 1, ...SMALL }, silent);
    const { runs, metrics, coverage } = assess(evidence);
    assert.deepEqual(
      coverage!.map(({ application, files }) => [application, ...files.map(({ file }) => file)]),
      [["handwritten", "assessed/poisson.c", "assessed/program.h"]],
    );
    const of = (name: string) =>
      runs.filter(isTimed).find(({ application, quantity }) => application === name && quantity === "conjugate gradients")!;
    assert.equal(of("handwritten").problem, of("isoform-js").problem);
    assert.equal(of("handwritten").bytes, of("isoform-js").bytes);
    assert.deepEqual(new Set(metrics.map(({ application }) => application)), new Set(["isoform-js", "handwritten"]));
  });
});

describe("nvcc compiles", { skip: spawnSync("nvcc", ["--version"]).status === 0 ? false : "no nvcc" }, () => {
  for (const { name } of APPLICATIONS)
    it(`${name} by hand`, () =>
      assert.match(
        compileProgram(name, "cuda", () => undefined, "sm_90"),
        /\.so$/,
      ));
});
