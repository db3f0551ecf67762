import fc from "fast-check";
import { open } from "../../src/device/open.js";
import { IRError, IsoformError } from "../../src/base/errors.js";
import { compileKernel } from "../../src/kernel/compile.js";
import { check, checkOutside, isOutside, Unsound } from "../random/check.js";
import { block, stmt } from "../random/context.js";
import { dataOf } from "../random/data.js";
import { limitSteps } from "../random/evaluate.js";
import { KernelPrograms } from "../random/generate.js";
import { bodyOf, kernelOf, sourceOf, type Program } from "../random/program.js";
import { accepted } from "./expected.js";
import { mutatedText, picks } from "./mutate.js";
import type { Subject } from "./subject.js";

const MUTANTS = 25;
/** Most are no JavaScript, and never reach the library. */
const ATTEMPTS = 500;
/** Statements that the evaluator runs of a mutant; a loop may have come to have no end. */
const STEPS = 300_000;

/** The program with another text of its body. */
const withBody = (program: Program, text: string): Program => ({ ...program, faithful: false, style: "plain", body: block([stmt(text)]) });

/** Undefined where the text is no JavaScript. */
function parsed(program: Program): Program | undefined {
  try {
    kernelOf(program);
    return program;
  } catch {
    return undefined;
  }
}

/** Why the evaluator has no answer, other than that a program is wrong: of the library's code, or of its own. */
const isDefect = (cause: unknown): boolean =>
  cause instanceof TypeError || cause instanceof IRError || (cause instanceof RangeError && !isOutside(cause));

/** Kernels whose text was mutated: they are refused in the library's words, or run with the evaluator's bits. */
export const sources: Subject = {
  name: "sources",
  weight: 10,
  async open() {
    const devices = [await open("js"), await open("wasm")];
    return {
      async trial(seed) {
        const pick = picks(seed);
        const [whole] = fc.sample(new KernelPrograms(), { numRuns: 1, seed });
        const text = bodyOf(whole);
        const counts = { sources: 0, refused: 0, run: 0, outside: 0 };
        for (let n = 0; n < ATTEMPTS && counts.sources < MUTANTS; n++) {
          const program = parsed(withBody(whole, mutatedText(text, pick)));
          if (!program) continue;
          counts.sources++;
          const { fixed } = dataOf(program);
          if (
            !(await accepted(
              () => sourceOf(program),
              () => compileKernel(kernelOf(program), fixed),
            ))
          ) {
            counts.refused++;
            continue;
          }
          limitSteps(STEPS);
          try {
            await check(program, devices);
            counts.run++;
          } catch (error) {
            const { cause } = error as Error;
            if (!(error instanceof Unsound ? !isDefect(cause) : cause instanceof IsoformError)) throw error;
            if (isOutside(cause) && (await checkOutside(program, devices))) counts.outside++;
          } finally {
            limitSteps(Infinity);
          }
        }
        return counts;
      },
      async close() {
        for (const device of devices) await device.close();
      },
    };
  },
};
