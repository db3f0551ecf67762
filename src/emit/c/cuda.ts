import { analyseAccess, type AccessAnalysis } from "../../ir/access.js";
import { contributionsOf } from "../../ir/contributions.js";
import type { KernelIR } from "../../ir/types.js";
import { writeTable } from "./body.js";
import { Code } from "./code.js";
import { mathDefinitions } from "./cuda/dialect.js";
import { FoldWriter } from "./cuda/folds.js";
import type { CudaAssumptions, CudaProgram, ScatterCode, Traversal } from "./cuda/program.js";
import { RangeWriter } from "./cuda/range.js";
import { ApplyWriter } from "./cuda/recorded.js";
import { dynamicScratchBytes, MEMBERS, TeamWriter } from "./cuda/team.js";
import { type EntryWriter, ProgramWriter } from "./cuda/writer.js";

/** CUDA C++ of a kernel: its main entry, and what folds its partials and applies its sorted contributions. */
export function emitCuda(ir: KernelIR, access: AccessAnalysis, assumptions: CudaAssumptions): CudaProgram {
  const program = new ProgramWriter(ir, access, assumptions);
  const traversal = traversalOf(program);
  const writer = traversal === "teams" ? new TeamWriter(program) : new RangeWriter(program, traversal);
  const main = writer.write();
  const reducing = program.reduces.length > 0;
  const fold = reducing ? new FoldWriter(program, false).write() : undefined;
  const finish = reducing ? new FoldWriter(program, true).write() : undefined;
  const recorded = program.scatters("recorded").map((target) => ({ target, apply: new ApplyWriter(program, target).write() }));
  const entries = [main, ...(fold ? [fold] : []), ...(finish ? [finish] : []), ...recorded.map(({ apply }) => apply)];
  return {
    source: sourceOf(
      program,
      writer,
      entries.map(({ text }) => text),
    ),
    main: main.entry,
    traversal,
    reduces: program.reduces.map(({ name, type }) => ({ name, type })),
    fold: fold?.entry,
    finish: finish?.entry,
    recorded: recorded.map(({ target: { name, element, op }, apply }) => ({
      name,
      type: element,
      op,
      apply: apply.entry,
    })),
    shared: program.scatters("shared").map(({ name, element }) => ({ name, type: element })),
    scratchBytes: dynamicScratchBytes(ir.body),
  };
}

/** What is assumed of a launch where none is at hand: dense `right` layouts, small and apart from each other. */
export function defaultAssumptions(ir: KernelIR, strict: boolean): CudaAssumptions {
  const arrays = ir.params.filter((p) => p.kind === "view" || p.kind === "scatter");
  const scatter = (name: string): ScatterCode => (strict ? (contributionsOf(ir, name) === undefined ? "serial" : "recorded") : "atomic");
  return {
    strict,
    wide: false,
    aligned: false,
    members: MEMBERS,
    restrict: true,
    unitStrides: Object.fromEntries(arrays.map(({ name, rank }) => [name, Array.from({ length: rank }, (_, axis) => axis === rank - 1)])),
    scatter: Object.fromEntries(arrays.filter((p) => p.kind === "scatter").map(({ name }) => [name, scatter(name)])),
  };
}

/** CUDA C++ of a kernel without a launch or a device, for people and for compiling in tests. */
export function cudaSource(kernel: { ir: KernelIR; access?: AccessAnalysis }, precision: "strict" | "fast" = "fast"): string {
  const { ir } = kernel;
  return emitCuda(ir, kernel.access ?? analyseAccess(ir), defaultAssumptions(ir, precision === "strict")).source;
}

function traversalOf(program: ProgramWriter): Traversal {
  if (program.ir.policy.kind === "team") return "teams";
  if (program.serial) return "serial";
  const reducing = program.reduces.length > 0;
  // Recording goes by batches, whose chunks have partials of their own.
  if (reducing && (program.assumptions.strict || program.scatters("recorded").length > 0)) return "chunks";
  return reducing || program.scatters("shared").length > 0 ? "strided" : "elements";
}

function sourceOf(program: ProgramWriter, main: EntryWriter, functions: readonly string[]): string {
  const code = new Code();
  const { ir, dialect, helpers } = program;
  const entries = functions.join("\n");
  code.line(`// Kernel "${ir.name}" (${ir.location.file.replace(/^.*[\\/]/, "")}), written by isoform.`);
  for (const definition of [helpers.toString().trimEnd(), ...program.definitions, ...mathDefinitions(entries)])
    if (definition) code.line().text(definition);
  for (const table of ir.tables) writeTable(code.line(), table, dialect, main.names, (type, value) => main.constant(type, value));
  return `${code}\n${entries}`;
}
