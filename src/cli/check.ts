import { type Command, Option } from "commander";
import type { Shell } from "../portability/application.js";
import type { ReportFormat } from "../check/report.js";

const EXAMPLES = `
Examples:
  isoform check                              all sources of the working directory
  isoform check src --format sarif           for hosts of code, which show problems beside lines
  isoform check kernels.ts --load            run the module, and compile the kernels that it exports

It exits with 0, with 1 where there are problems, and with 2 where a file cannot be read or TypeScript is missing.`;

const FORMATS: readonly ReportFormat[] = ["text", "json", "sarif"];

/** Adds `isoform check`. */
export function addCheck(program: Command, shell: Shell, version: string): void {
  program
    .command("check")
    .description("find mistakes in kernels without running the program: what a device would refuse, with the line and the remedy")
    .argument("[paths...]", "files and folders of TypeScript or JavaScript; default: the working directory")
    .addOption(new Option("--format <name>", "how to print what was found").choices([...FORMATS]).default("text"))
    .option("--load", "run the modules instead of reading them, which tells values that are known only then")
    .addHelpText("after", EXAMPLES)
    .action(async (paths: readonly string[], options: { format: ReportFormat; load?: boolean }) => {
      const { sourceFiles, typedProgram } = await import("../check/program.js");
      const { problemsOf } = await import("../check/problems.js");
      const { formatReport } = await import("../check/report.js");
      const files = sourceFiles(paths.length > 0 ? paths : ["."]);
      const report = options.load ? await (await import("../check/load-files.js")).loadFiles(files) : await read(files, typedProgram);
      shell.print(formatReport(report, options.format, version));
      if (problemsOf(report).length > 0) shell.endWith(1);
    });
}

async function read(files: readonly string[], typedProgram: typeof import("../check/program.js").typedProgram) {
  const { requireTypeScript } = await import("../check/typescript.js");
  const { checkFiles } = await import("../check/check.js");
  if (files.length === 0) return { files: 0, kernels: [] };
  const api = requireTypeScript(process.cwd());
  return checkFiles(api, typedProgram(api, files), files);
}
