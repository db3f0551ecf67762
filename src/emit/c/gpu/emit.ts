import type { AccessAnalysis } from "../../../ir/analysis/access.js";
import type { KernelIR } from "../../../ir/types.js";
import type { ScheduledEntry } from "../../../schedule/entry.js";
import type { Features } from "../../../schedule/features.js";
import { entriesOf, scheduleGpu, type ScheduledProgram } from "../../../schedule/lower.js";
import type { Entry, GpuAssumptions, GpuProgram } from "../../../schedule/program.js";
import { originText } from "../../text.js";
import { Code } from "../code.js";
import { Expressions } from "../expressions.js";
import { Helpers } from "../helpers.js";
import { writeTable } from "../tables.js";
import type { GpuDialect } from "./dialect.js";
import { printEntry, printFunction } from "./entries.js";
import type { SourceParts } from "./print.js";

/** Features of a language, as schedules ask for them. */
export function featuresOf(dialect: GpuDialect): Features {
  const { shuffle, subGroups, lastBlock, peerAccess } = dialect;
  return {
    warp: shuffle?.warp ?? 0,
    namesLanes: shuffle?.group.mask !== undefined,
    groupFolds: (op, type) => subGroups?.fold(op, type, "") !== undefined,
    finishThreads: dialect.finishThreads,
    lastBlock: lastBlock?.threads ?? 0,
    peerAccess: peerAccess?.threads ?? 0,
    findsRuns: dialect.runs !== undefined,
    bytesOfThread: dialect.bytesOfThread ?? 0,
    holdsResidents: dialect.holdsResidents === true,
    writesOutTurns: dialect.writesOutTurns === true,
    stagesTurns: dialect.stagesTurns === true,
    joinsLoads: dialect.assumed !== undefined,
    asksAhead: dialect.ahead !== undefined,
  };
}

/** The source of a kernel in a language for GPUs: its main entry, and what folds its partials and applies its sorted contributions. */
export function emitGpu(
  kernel: KernelIR,
  access: AccessAnalysis,
  assumptions: GpuAssumptions,
  dialect: GpuDialect,
  comments?: SourceParts["comments"],
): GpuProgram {
  const program = scheduleGpu(kernel, access, assumptions, featuresOf(dialect));
  const parts: SourceParts = { dialect, helpers: new Helpers(dialect), definitions: new Set(), kernel: program.ir.name, comments };
  const printed = new Map(entriesOf(program).map((entry) => [entry, printEntry(entry, parts)]));
  const functions = program.functions.map((fn) => printFunction(fn, parts));
  const entryOf = (entry: ScheduledEntry): Entry => printed.get(entry)!.entry;
  const { main, fold, finish, sorted, reduces, shared, traversal, threads, row, elements, planes, tunables, lanes, scratchBytes } = program;
  return {
    source: sourceOf(
      program,
      parts,
      functions,
      [...printed.values()].map(({ text }) => text),
    ),
    main: entryOf(main),
    traversal,
    threads,
    row,
    elements,
    planes,
    tunables,
    reduces: reduces.map(({ name, type }) => ({ name, type })),
    fold: fold && entryOf(fold),
    finish: finish && entryOf(finish),
    sorted: sorted.map(({ target: { name, element, op }, apply }) => ({ name, type: element, op, apply: entryOf(apply) })),
    shared: shared.map(({ name, element }) => ({ name, type: element })),
    lanes,
    scratchBytes,
  };
}

function sourceOf(
  { ir, assumptions, main }: ScheduledProgram,
  parts: SourceParts,
  functions: readonly string[],
  entries: readonly string[],
): string {
  const { dialect, helpers, definitions } = parts;
  const code = new Code();
  const text = entries.join("\n");
  const expressions = new Expressions(dialect, helpers);
  code.line(`// ${originText(ir)}.`);
  for (const line of dialect.head(assumptions.strict)) code.line(line);
  const library = [
    helpers.toString().trimEnd(),
    ...definitions,
    ...functions.map((each) => each.trimEnd()),
    ...dialect.mathDefinitions(text),
  ];
  for (const definition of library) if (definition) code.line().text(definition);
  for (const table of ir.tables) writeTable(code.line(), table, dialect, main.names, (type, value) => expressions.literal(type, value)[0]);
  return `${code}\n${text}`;
}
