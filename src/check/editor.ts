import type ts from "typescript";
import { checkSource } from "./check.js";
import { costText } from "./cost-text.js";
import { messageOf, type CheckedKernel, type KernelProblem } from "./problems.js";
import { ProgramNames } from "./scope.js";
import type { TypeScript } from "./typescript.js";

/* Remarks that editors show beside a file: problems at their places, and the cost of kernels. */

/** A remark on a stretch of a file, in characters from its start. */
interface EditorRemark {
  readonly start: number;
  readonly length: number;
  readonly message: string;
  /** Else a hint: the kernel could not be checked. */
  readonly isProblem: boolean;
}

/** A file as it was checked. */
export interface EditorFile {
  readonly remarks: readonly EditorRemark[];
  /** Text over the declaration of a kernel; undefined elsewhere. */
  hoverAt(offset: number): { readonly start: number; readonly length: number; readonly text: string } | undefined;
}

/** Checks one file of a program, as it stands in the editor. */
export function checkInEditor(api: TypeScript, program: ts.Program, file: ts.SourceFile): EditorFile {
  const kernels = checkSource(new ProgramNames(api, program), file);
  return {
    remarks: kernels.flatMap((kernel) => remarksOn(api, file, kernel)),
    hoverAt(offset) {
      const kernel = kernels.find(({ at }) => isOn(file, at, offset));
      if (!kernel) return undefined;
      const start = offsetOf(file, kernel.at);
      return { start, length: wordLength(file, start), text: hoverText(kernel) };
    },
  };
}

function remarksOn(api: TypeScript, file: ts.SourceFile, { problems, unknown, at, name }: CheckedKernel): EditorRemark[] {
  const found = problems.map((problem): EditorRemark => {
    const here = problem.file === file.fileName;
    const start = offsetOf(file, here ? problem : at);
    const elsewhere = here ? "" : ` (${problem.file}:${problem.line}:${problem.column})`;
    return { start, length: lengthAt(api, file, start), message: messageOf(problem) + elsewhere, isProblem: true };
  });
  if (unknown === undefined) return found;
  const start = offsetOf(file, at);
  return [...found, { start, length: wordLength(file, start), message: `"${name}" is not checked: ${unknown}`, isProblem: false }];
}

const hoverText = ({ name, ir, problems, unknown }: CheckedKernel): string => {
  if (problems.length > 0) return `${name}: ${problems.map(messageOf).join("\n")}`;
  return ir ? `${name}: ${costText(ir)}` : `${name} is not checked: ${unknown ?? ""}`;
};

type Place = Pick<KernelProblem, "line" | "column">;

const offsetOf = (file: ts.SourceFile, { line, column }: Place): number =>
  line <= file.getLineStarts().length ? Math.min(file.getPositionOfLineAndCharacter(line - 1, 0) + column - 1, file.text.length) : 0;

const wordLength = (file: ts.SourceFile, start: number): number => /^\w*/.exec(file.text.slice(start, start + 200))![0].length || 1;

const isOn = (file: ts.SourceFile, at: Place, offset: number): boolean => {
  const start = offsetOf(file, at);
  return offset >= start && offset < start + wordLength(file, start);
};

/** Length of the largest expression or statement on one line that begins at a place. */
function lengthAt(api: TypeScript, file: ts.SourceFile, start: number): number {
  const newline = file.text.indexOf("\n", start);
  const lineEnd = newline < 0 ? file.text.length : newline;
  let length = 0;
  const visit = (node: ts.Node): void => {
    if (node.end <= start || node.pos > start) return;
    if (node.getStart(file) === start && node.end <= lineEnd) length = Math.max(length, node.end - start);
    api.forEachChild(node, visit);
  };
  visit(file);
  return length || wordLength(file, start);
}
