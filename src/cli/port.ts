import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { FORTRAN_TARGETS, CPP_TARGETS, KERNEL_TARGETS, PORT_TARGETS, type PortTarget } from "../fortran/port/targets.js";
import type { PortedFile, PortOptions, Source } from "../fortran/port/sources.js";
import type { PortKind, Settings } from "../fortran/port/settings.js";
import { IsoformError } from "../base/errors.js";
import type { Shell } from "../portability/application.js";
import { makeOutputFolder } from "./folders.js";

interface Options {
  to?: PortTarget[];
  out?: string;
  config?: string;
  define?: Record<string, string | boolean>;
  kind?: Record<string, PortKind>;
  check?: boolean;
  report?: string;
}

const EXAMPLES = `
Examples:
  isoform port kernels_gpu.F90 --to cpu                            print the result
  isoform port kernels_gpu.F90 --to cpu,openmp --out port          write port/cpu/kernels_gpu.F90 and port/openmp/kernels_gpu.F90
  isoform port kernels_gpu.F90 --to hip --out hip                  write the loops as HIP C++, and Fortran that launches them
  isoform port *.F90 --check                                       say what each target refuses, and where

docs/fortran.md says which Fortran is accepted, and what a configuration file may hold.`;

/** Adds `isoform port`. */
export function addPort(program: Command, shell: Shell): void {
  program
    .command("port")
    .description(
      "translate loops of CUDA Fortran, OpenACC and do concurrent: into Fortran for one core, all cores or a GPU, or into another language",
    )
    .argument("<files...>", "Fortran: .f90, .F90, .cuf, .CUF; .f, .F, .for, .ftn in fixed form")
    .option(
      "--to <targets>",
      `targets, separated by commas: ${PORT_TARGETS.join(", ")}; default: the first ${FORTRAN_TARGETS.length}, and with --check all`,
      targets,
    )
    .option("--out <folder>", "write files into a folder instead of printing them; for several targets, a folder each inside it")
    .option("--config <file>", "settings in TOML: names, and the order of loops")
    .option("--define <name[=value]>", "define a name for the preprocessor; may be repeated", define)
    .option("--kind <name=type>", "type of a Fortran kind in kernels: f64, f32 or i32; may be repeated", kind)
    .option("--check", "say what each target refuses, and write nothing")
    .option("--report <file>", "write as JSON which loops were found and what became of them")
    .addHelpText("after", EXAMPLES)
    .action((files: string[], options: Options) => port(files, options, shell));
}

async function port(files: readonly string[], options: Options, shell: Shell): Promise<void> {
  await shell.checkOutputs({ report: options.report }, { config: options.config, arguments: files });
  const settings = options.config === undefined ? undefined : await readSettings(options.config);
  const sources = files.map(readSource);
  const folder = options.config === undefined ? "." : dirname(options.config);
  const hostFiles = (settings?.hosts ?? []).map((name) => join(folder, name));
  await shell.checkOutputs({}, { config: hostFiles });
  const hosts = hostFiles.map(readSource);
  const given = { settings, define: options.define ?? {}, kinds: options.kind ?? {}, hosts };
  const writeReport = async (made: readonly PortedFile[]): Promise<void> => {
    if (options.report !== undefined) await shell.writeFile(options.report, `${JSON.stringify(report(made), undefined, 2)}\n`);
  };
  if (options.check) {
    const { checkTargets, pluralised } = await import("./port-check.js");
    const { made, lines, notes, problems } = await checkTargets(options.to ?? PORT_TARGETS, (target) => ported(sources, given, [target]));
    await writeReport(made);
    const { countLoops } = await import("../fortran/port/sources.js");
    const loops = countLoops(sources, { ...given, include });
    shell.print([`${pluralised(loops, "parallel loop")} in ${pluralised(files.length, "file")}`, ...lines, ...notes].join("\n"));
    if (problems.length > 0) throw new (await import("../fortran/errors.js")).FortranError(problems);
    return;
  }
  const to = options.to ?? FORTRAN_TARGETS;
  const made = await ported(sources, given, to);
  if (options.out === undefined) {
    await writeReport(made);
    return shell.print(printed(made, to.length > 1));
  }
  const written = placed(made, options.out, to.length > 1);
  for (const path of written.keys())
    if (files.some((file) => resolve(file) === resolve(path)))
      throw new IsoformError(`${path} is one of the files to port: choose another folder`);
  for (const path of written.keys()) await makeOutputFolder(dirname(path));
  await shell.checkOutputs({ out: [...written.keys()] });
  await writeReport(made);
  for (const [path, text] of written) await shell.writeFile(path, text);
  shell.print([...written.keys()].join("\n"));
}

/** Ports to all targets, in their order. */
async function ported(
  sources: readonly Source[],
  given: Omit<PortOptions, "targets" | "include">,
  to: readonly PortTarget[],
): Promise<PortedFile[]> {
  const options = { ...given, include };
  const among = <T extends PortTarget>(list: readonly T[]): T[] => list.filter((target) => to.includes(target));
  const [fortran, cpp, kernels] = [among(FORTRAN_TARGETS), among(CPP_TARGETS), among(KERNEL_TARGETS)];
  const made: PortedFile[] = [];
  if (fortran.length > 0) made.push(...(await import("../fortran/port/sources.js")).portSources(sources, { ...options, targets: fortran }));
  if (cpp.length > 0) made.push(...(await import("../fortran/port/cpp/sources.js")).portCppSources(sources, { ...options, targets: cpp }));
  if (kernels.length > 0) made.push(...(await import("../fortran/port-kernels.js")).portKernels(sources, { ...options, targets: kernels }));
  return made;
}

/** Texts by their paths. Throws IsoformError if two would be the same. */
function placed(made: readonly PortedFile[], out: string, apart: boolean): Map<string, string> {
  const found = new Map<string, string>();
  for (const { target, name, text, of } of made) {
    const path = apart ? join(out, target, name) : join(out, name);
    if (found.has(path)) throw new IsoformError(`${of} and another file would both become ${path}: port them one after the other`);
    found.set(path, text);
  }
  return found;
}

function printed(made: readonly PortedFile[], apart: boolean): string {
  if (made.length === 1) return made[0].text.trimEnd();
  return made
    .map(({ target, name, text }) => `==> ${apart ? `${target}/` : ""}${name} <==\n${text}`)
    .join("\n")
    .trimEnd();
}

const report = (made: readonly PortedFile[]): unknown => {
  const placed = <T extends { readonly at: { readonly file: string; readonly line: number } }>(list: readonly T[]): unknown[] =>
    list.map(({ at, ...rest }) => ({ ...rest, file: at.file, line: at.line }));
  return made.map(({ target, of, name, loops, notes, transfers }) => ({
    target,
    file: of,
    name,
    loops: placed(loops),
    notes: placed(notes),
    transfers: placed(transfers),
  }));
};

/** @throws IsoformError */
function readSource(path: string): Source {
  const text = readText(path);
  if (text.includes("\0")) throw new IsoformError(`${path} is not a text file: it has a zero byte`);
  return { file: path, text };
}

function readText(path: string): string {
  try {
    const found = statSync(path);
    // A device may never end.
    if (!found.isFile()) throw new IsoformError(`cannot read ${path}: it is ${found.isDirectory() ? "a folder" : "not a file"}`);
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof IsoformError) throw error;
    throw new IsoformError(
      `cannot read ${path.length > 200 ? `${path.slice(0, 40)}...` : path}: ${(error as Error).message.split(",")[0]}`,
    );
  }
}

/** A file beside the one that includes it. */
function include(name: string, from: string): string | undefined {
  const path = join(dirname(from), name);
  return statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, "utf8") : undefined;
}

async function readSettings(path: string): Promise<Settings> {
  const { settingsOf } = await import("../fortran/port/settings.js");
  const { parse } = await import("smol-toml");
  const text = readText(path);
  let values: Record<string, unknown> = {};
  try {
    values = parse(text);
  } catch (error) {
    throw new IsoformError(`${path}: ${(error as Error).message.trim()}`);
  }
  return settingsOf(values, basename(path));
}

function targets(text: string): PortTarget[] {
  const names = text.split(",").map((name) => name.trim());
  const found = PORT_TARGETS.filter((target) => names.includes(target));
  if (found.length < new Set(names).size) throw new InvalidArgumentError(`Choose from ${PORT_TARGETS.join(", ")}.`);
  return found;
}

function kind(text: string, before: Record<string, PortKind> = {}): Record<string, PortKind> {
  const [, name, type] = /^([A-Za-z_]\w*)=(f64|f32|i32)$/.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError("It needs NAME=f64, NAME=f32 or NAME=i32.");
  return { ...before, [name.toLowerCase()]: type as PortKind };
}

function define(text: string, before: Record<string, string | boolean> = {}): Record<string, string | boolean> {
  const [, name, value] = /^([A-Za-z_]\w*)(?:=(.*))?$/s.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError("It needs NAME or NAME=VALUE.");
  return { ...before, [name]: value ?? true };
}
