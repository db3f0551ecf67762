import type ts from "typescript";
import { IsoformError } from "../base/errors.js";
import { checkDeclaration } from "./check-declaration.js";
import { Evaluator } from "./evaluate.js";
import { findDeclarations } from "./find-declarations.js";
import { locationAt } from "./functions.js";
import type { CheckedKernel, CheckReport } from "./problems.js";
import { ProgramNames } from "./scope.js";
import type { TypeScript } from "./typescript.js";

/** Checks the kernels of files of a program without running it. Throws IsoformError for a file that cannot be read. */
export function checkFiles(api: TypeScript, program: ts.Program, files: readonly string[]): CheckReport {
  const names = new ProgramNames(api, program);
  const sources = files.map((path) => program.getSourceFile(path) ?? unreadable(`${path} cannot be read`));
  for (const file of sources) requireReadable(names, file);
  return { files: files.length, kernels: sources.flatMap((file) => checkSource(names, file)) };
}

/** Checks the kernels of one file, whatever else is wrong with it. */
export function checkSource(names: ProgramNames, file: ts.SourceFile): CheckedKernel[] {
  const values = new Evaluator(names);
  return findDeclarations(names, file).map((declared) => checkDeclaration(values, declared));
}

function requireReadable({ api, program, checker }: ProgramNames, file: ts.SourceFile): void {
  const [mistake] = program.getSyntacticDiagnostics(file);
  const place = (offset: number): string => {
    const { line, column } = locationAt(file, offset);
    return `${file.fileName}:${line}:${column}`;
  };
  if (mistake) unreadable(`${place(mistake.start)}: ${api.flattenDiagnosticMessageText(mistake.messageText, " ")}`);
  for (const statement of file.statements) {
    if (!api.isImportDeclaration(statement) || !/^["']isoform(?:\/|["'])/.test(statement.moduleSpecifier.getText())) continue;
    if (checker.getSymbolAtLocation(statement.moduleSpecifier)) continue;
    const at = place(statement.getStart());
    unreadable(
      `${at}: ${statement.moduleSpecifier.getText()} is not found from there, so that types are unknown (npm install isoform, or build it)`,
    );
  }
}

function unreadable(message: string): never {
  throw new IsoformError(message);
}
