import { isDouble } from "../../ir/scalars.js";
import type { AccessAnalysis } from "../../ir/analysis/access.js";
import { sequenceChecks } from "../../ir/passes/sequence-checks.js";
import type { KernelIR } from "../../ir/types.js";
import { FoldWriter } from "./folds.js";
import type { ShaderEntry, Traversal, WgslAssumptions, WgslProgram } from "./shader-program.js";
import { RangeWriter } from "./range.js";
import { ApplyWriter, RenormaliseWriter } from "./sorted-scatter.js";
import { TeamWriter } from "./team.js";
import { ProgramWriter } from "./writer.js";

/** WGSL of a kernel: its main shader, and what folds its partials and applies its sorted contributions. */
export function emitWgsl(ir: KernelIR, access: AccessAnalysis, assumptions: WgslAssumptions): WgslProgram {
  const program = new ProgramWriter(sequenceChecks(ir), access, assumptions);
  const traversal = traversalOf(program);
  const range = traversal === "teams" ? undefined : new RangeWriter(program, traversal);
  const folds = program.reduces.length > 0 && !assumptions.partials;
  return {
    main: range?.entry() ?? new TeamWriter(program).entry(),
    traversal,
    elements: range?.several?.count ?? 1,
    reduces: program.reduces.map(({ name, type }) => ({ name, type })),
    fold: folds ? new FoldWriter(program, false).entry() : undefined,
    finish: folds ? new FoldWriter(program, true).entry() : undefined,
    sorted: program
      .scatters("sorted")
      .map((target) => ({ name: target.name, type: target.element, op: target.op, apply: new ApplyWriter(program, target).entry() })),
    renormalised: [...program.scatters("atomic"), ...program.scatters("shared"), ...program.scatters("cached")]
      .filter(({ element }) => isDouble(element))
      .map((target) => ({ name: target.name, entry: new RenormaliseWriter(program, target).entry() })),
  };
}

/** The entries of a program, in the order in which they run. */
export const shaderEntries = ({ main, fold, finish, sorted, renormalised }: WgslProgram): ShaderEntry[] =>
  [main, ...sorted.map(({ apply }) => apply), ...renormalised.map(({ entry }) => entry), fold, finish].filter(
    (entry) => entry !== undefined,
  );

function traversalOf(program: ProgramWriter): Traversal {
  if (program.ir.policy.kind === "team") return "teams";
  if (program.serial) return "serial";
  const reducing = program.reduces.length > 0;
  if (reducing && program.assumptions.inChunks) return "chunks";
  if (program.scatters("cached").length > 0) return "segments";
  return reducing || program.scatters("shared").length > 0 ? "strided" : "elements";
}
