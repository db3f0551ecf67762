import { relative } from "node:path";
import { pathToFileURL } from "node:url";
import { messageOf, problemsOf, type CheckReport, type KernelProblem } from "./problems.js";

/* Reports of a check: text as compilers print it, JSON, and SARIF, which hosts of code show beside the lines. */

export const REPORT_FORMATS = ["text", "json", "sarif"] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** The report in a format; paths of text are relative to the working directory. */
export function formatReport(report: CheckReport, format: ReportFormat, version: string): string {
  if (format === "text") return textReport(report);
  return JSON.stringify(format === "json" ? jsonReport(report) : sarifReport(report, version), null, 2);
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`;

function textReport(report: CheckReport): string {
  const shown = (file: string): string => relative(process.cwd(), file) || file;
  const problems = problemsOf(report).map((found) => `${shown(found.file)}:${found.line}:${found.column}: error: ${messageOf(found)}`);
  const unknown = report.kernels.filter((kernel) => kernel.unknown !== undefined);
  const notes = unknown.map(
    ({ name, at, unknown: why }) => `${shown(at.file)}:${at.line}:${at.column}: note: "${name}" not checked: ${why}`,
  );
  const checked = report.kernels.length - unknown.length;
  const end = `${count(checked, "kernel")} checked in ${count(report.files, "file")}, ${unknown.length} not checked: ${count(problems.length, "problem")}`;
  return [...problems, ...notes, end].join("\n");
}

function jsonReport(report: CheckReport): object {
  return {
    files: report.files,
    kernels: report.kernels.map(({ name, at, problems, unknown }) => ({
      name,
      ...at,
      checked: unknown === undefined,
      ...(unknown !== undefined && { reason: unknown }),
      problems: problems.length,
    })),
    problems: problemsOf(report).map((found) => ({ ...found, message: messageOf(found) })),
  };
}

/** SARIF 2.1.0. */
function sarifReport(report: CheckReport, version: string): object {
  const result = (ruleId: string, level: string, text: string, at: Pick<KernelProblem, "file" | "line" | "column">): object => ({
    ruleId,
    level,
    message: { text },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: pathToFileURL(at.file).href },
          region: { startLine: at.line, startColumn: at.column },
        },
      },
    ],
  });
  const results = [
    ...problemsOf(report).map((found) => result("kernel", "error", messageOf(found), found)),
    ...report.kernels.flatMap(({ name, at, unknown }) =>
      unknown === undefined ? [] : [result("not-checked", "note", `"${name}" not checked: ${unknown}`, at)],
    ),
  ];
  const rules = [
    { id: "kernel", shortDescription: { text: "A kernel is outside the language, or would race." } },
    { id: "not-checked", shortDescription: { text: "A kernel depends on a value that only a run gives." } },
  ];
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{ tool: { driver: { name: "isoform check", version, rules } }, columnKind: "utf16CodeUnits", results }],
  };
}
