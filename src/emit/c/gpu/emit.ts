import type { AccessAnalysis } from "../../../ir/analysis/access.js";
import { contributionsOf } from "../../../ir/analysis/contributions.js";
import { sequenceChecks } from "../../../ir/passes/sequence-checks.js";
import type { KernelIR } from "../../../ir/types.js";
import { writeTable } from "../tables.js";
import { Code } from "../code.js";
import type { GpuDialect } from "./dialect.js";
import { FoldWriter } from "./folds.js";
import type { GpuAssumptions, GpuProgram, ScatterCode, Traversal } from "./program.js";
import { RangeWriter } from "./range.js";
import { ApplyWriter } from "./sorted-scatter.js";
import { dynamicScratchBytes, lanesOf, MEMBERS, TeamWriter, DEFAULT_LANES } from "./team.js";
import { type EntryWriter, ProgramWriter } from "./writer.js";
import { originText } from "../../text.js";

/** The source of a kernel in a language for GPUs: its main entry, and what folds its partials and applies its sorted contributions. */
export function emitGpu(kernel: KernelIR, access: AccessAnalysis, assumptions: GpuAssumptions, dialect: GpuDialect): GpuProgram {
  const ir = sequenceChecks(kernel);
  const program = new ProgramWriter(ir, access, assumptions, dialect);
  const traversal = traversalOf(program);
  const writer = traversal === "teams" ? new TeamWriter(program) : new RangeWriter(program, traversal);
  const main = writer.write();
  const reducing = program.reduces.length > 0;
  const fold = reducing && !program.reducesInOneKernel ? new FoldWriter(program, false).write() : undefined;
  const finish = reducing ? new FoldWriter(program, true).write() : undefined;
  const sorted = program.scatters("sorted").map((target) => ({ target, apply: new ApplyWriter(program, target).write() }));
  const entries = [main, ...(fold ? [fold] : []), ...(finish ? [finish] : []), ...sorted.map(({ apply }) => apply)];
  return {
    source: sourceOf(
      program,
      writer,
      entries.map(({ text }) => text),
    ),
    main: main.entry,
    traversal,
    threads: writer.threads,
    row: writer instanceof RangeWriter ? writer.row : writer.threads,
    elements: writer instanceof RangeWriter ? writer.elements : 1,
    planes: writer instanceof RangeWriter ? writer.planes : 0,
    tunables: () => writer.tunables(),
    reduces: program.reduces.map(({ name, type }) => ({ name, type })),
    fold: fold?.entry,
    finish: finish?.entry,
    sorted: sorted.map(({ target: { name, element, op }, apply }) => ({
      name,
      type: element,
      op,
      apply: apply.entry,
    })),
    shared: program.scatters("shared").map(({ name, element }) => ({ name, type: element })),
    lanes: lanesOf(program),
    scratchBytes: dynamicScratchBytes(ir.body),
  };
}

/** Assumptions for code without a launch: dense `right` layouts, small and apart from each other. */
export function defaultAssumptions(ir: KernelIR, strict: boolean): GpuAssumptions {
  const arrays = ir.params.filter((p) => p.kind === "view" || p.kind === "scatter");
  const scatters = arrays.filter((p) => p.kind === "scatter");
  const scatter = (name: string): ScatterCode => (strict ? (contributionsOf(ir, name) === undefined ? "serial" : "sorted") : "atomic");
  return {
    strict,
    sizes: "small",
    wide: false,
    aligned: false,
    members: MEMBERS,
    lanes: strict && scatters.length > 0 ? 1 : DEFAULT_LANES,
    restrict: true,
    unitStrides: Object.fromEntries(arrays.map(({ name, rank }) => [name, Array.from({ length: rank }, (_, axis) => axis === rank - 1)])),
    scatter: Object.fromEntries(scatters.map(({ name }) => [name, scatter(name)])),
  };
}

function traversalOf(program: ProgramWriter): Traversal {
  if (program.ir.policy.kind === "team") return "teams";
  if (program.serial) return "serial";
  const reducing = program.reduces.length > 0;
  // Sorting goes by batches, whose chunks have partials of their own.
  if (reducing && (program.ordered || program.scatters("sorted").length > 0)) return "chunks";
  if (program.scatters("cached").length > 0) return "segments";
  return reducing || program.scatters("shared").length > 0 ? "strided" : "elements";
}

function sourceOf(program: ProgramWriter, main: EntryWriter, functions: readonly string[]): string {
  const code = new Code();
  const { ir, dialect, helpers, assumptions } = program;
  const entries = functions.join("\n");
  code.line(`// ${originText(ir)}.`);
  for (const line of dialect.head(assumptions.strict)) code.line(line);
  for (const definition of [helpers.toString().trimEnd(), ...program.definitions, ...dialect.mathDefinitions(entries)])
    if (definition) code.line().text(definition);
  for (const table of ir.tables) writeTable(code.line(), table, dialect, main.names, (type, value) => main.constant(type, value));
  return `${code}\n${entries}`;
}
