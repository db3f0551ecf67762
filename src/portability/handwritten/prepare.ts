import { limitSpinning, Loader, loadWorkingKoffi } from "../../device/native/library.js";
import { threadCount } from "../../device/cpu/pool.js";
import { IsoformError } from "../../base/errors.js";
import type { HandWritten, PreparedApplication } from "../application.js";
import { compileProgram } from "./compile.js";
import { sourceFile } from "../source-files.js";
import { filesOf, NoProgramError, type HandWrittenLanguage } from "./sources.js";

/** The functions of bench/baselines/assessed/program.h. */
const DECLARATIONS = [
  "void *prepare(int32_t device, void *sizes, void *inputs)",
  "int32_t run(void *program, int64_t iterations, void *seconds)",
  "int32_t results(void *program, void *outputs)",
  "void release(void *program)",
  "const char *problem()",
] as const;

/**
 * A hand-written program, compiled, with its data in memory: on the host, or on a GPU by its number.
 * Throws NoProgramError if there is no compiler or no such program, IsoformError where it fails.
 */
export async function prepareProgram(work: HandWritten, language: HandWrittenLanguage, device: number): Promise<PreparedApplication> {
  const koffi = await loadWorkingKoffi();
  if (!koffi) throw new NoProgramError("the package koffi, which calls compiled code, does not load: npm install koffi");
  limitSpinning();
  process.env.OMP_NUM_THREADS ??= String(threadCount());
  const loader = new Loader(koffi);
  const names = DECLARATIONS.map((declaration) => /(\w+)\(/.exec(declaration)![1]);
  const library = koffi.load(compileProgram(work.program, language, loader.test(...names)));
  const [prepare, run, results, release, problem] = DECLARATIONS.map((declaration) => library.func(declaration));
  const addresses = (arrays: readonly Float64Array[]): BigInt64Array =>
    BigInt64Array.from(arrays, ({ buffer, byteOffset }) => loader.address(buffer) + BigInt(byteOffset));
  const failure = (): IsoformError => new IsoformError(`the hand-written program ${work.program} failed: ${problem() as string}`);
  const program = prepare(device, BigInt64Array.from(work.sizes, BigInt), addresses(work.inputs)) as unknown;
  if (program === null) throw failure();
  const outputs = work.outputs.map((length) => new Float64Array(length));
  return {
    problem: work.problem,
    files: [...filesOf(work.program, language)].map(([file, text]) => sourceFile(file, text)),
    async run() {
      const seconds = new Float64Array(work.quantities.length);
      if (run(program, work.iterations, seconds) !== 0) throw failure();
      return work.quantities.flatMap((quantity, n) => (quantity === undefined ? [] : { quantity, seconds: seconds[n] }));
    },
    async validate() {
      if (results(program, addresses(outputs)) !== 0) throw failure();
      return work.validate(outputs);
    },
    free: () => void release(program),
  };
}
