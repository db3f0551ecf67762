import { join } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { EmittedFile } from "../emit/standalone/index.js";
import type { Precision } from "../ir/launch.js";
import { IsoformError } from "../base/errors.js";
import type { Shell } from "../portability/application.js";
import { SETTING_OPTIONS, DEFAULT_SETTINGS, type Storage } from "../skeleton/settings.js";
import { makeOutputFolder } from "./folders.js";
import { count } from "./numbers.js";
import { globalOption } from "./settings.js";
import { TARGET_NAMES, type TargetName } from "../emit/standalone/names.js";
import { APPLICATIONS } from "./commands.js";
import type { FoundKernel } from "./observed-launches.js";

interface EmitOptions extends Storage {
  target: TargetName;
  kernel?: string[];
  out?: string;
  precision: Precision;
  float?: "f32";
  fixed?: Record<string, string>;
  size: number;
  range?: [number, number][];
  form?: string;
  global?: 0 | 1;
}

const EXAMPLES = `
Examples:
  isoform emit axpy.mjs --target cuda                           print every kernel that the file exports
  isoform emit kernels.mjs --target opencl --kernel dot --out cl    write dot.cl and dot.c
  isoform emit poisson --target c --precision strict --out poisson-c
  isoform emit gsr --form gathered --target cuda --out gsr-gathered

Each file begins with the command that compiles it and says what its launch function takes: docs/emit.md.`;

/** Adds `isoform emit`. */
export function addEmit(program: Command, shell: Shell): void {
  program
    .command("emit")
    .description("write kernels as source files that do not need Isoform: the code, and a function that launches it")
    .argument("<file|application>", `a module that exports kernels, or one of ${Object.keys(APPLICATIONS).join(", ")}`)
    .addOption(new Option("--target <name>", "language to write").choices(TARGET_NAMES).makeOptionMandatory())
    .option("--kernel <names>", "kernels to write, separated by commas; default: all", list)
    .option("--out <folder>", "write files into a folder instead of printing them")
    .addOption(option("precision"))
    .addOption(
      new Option("--float <type>", "write f32 wherever a kernel has f64, which WGSL lacks; default: types stay as they are").choices([
        "f32",
      ]),
    )
    .option("--fixed <name=value>", "value of a fixed parameter; may be repeated", fixedValue)
    .option("--size <n>", "cells along each axis, of applications and for wat, which compiles sizes into the code", count, 16)
    .option("--range <bounds>", "for wat: begin and end along each axis of a kernel's range, such as 1:15,1:15", bounds)
    .addOption(option("grid"))
    .addOption(option("layout"))
    .option("--form <name>", "kernels of one form of an application with several, such as gathered for gsr; default: the first")
    .addOption(globalOption())
    .addHelpText("after", EXAMPLES)
    .action((source: string, options: EmitOptions) => emit(source, options, shell));
}

/** Option of a grid setting, without the choice `auto`. */
function option(name: "precision" | "grid" | "layout"): Option {
  const { flags, description, choices } = SETTING_OPTIONS[name];
  return new Option(flags, description.replace(/; auto .*$/, ""))
    .choices(choices.filter((choice) => choice !== "auto"))
    .default(DEFAULT_SETTINGS[name]);
}

async function emit(source: string, options: EmitOptions, shell: Shell): Promise<void> {
  const { kernelsOfApplication, kernelsOfFile } = await import("./found-kernels.js");
  if (options.form !== undefined && !Object.hasOwn(APPLICATIONS, source))
    throw new IsoformError(`--form ${options.form}: ${source} is a file, and files have no forms; leave the option out`);
  if (options.global !== undefined && !Object.hasOwn(APPLICATIONS, source))
    throw new IsoformError(`--global ${options.global}: ${source} is a file, and files have no global section; leave the option out`);
  const found = Object.hasOwn(APPLICATIONS, source)
    ? await kernelsOfApplication(source, APPLICATIONS[source], { ...options, globals: options.global })
    : await kernelsOfFile(source, options);
  const files = await filesOf(chosen(source, found, options.kernel), options);
  if (options.out === undefined) return shell.print(printed(files));
  await makeOutputFolder(options.out);
  const paths = files.map(({ name }) => join(options.out!, name));
  await shell.checkOutputs({ out: paths }, Object.hasOwn(APPLICATIONS, source) ? {} : { arguments: source });
  for (const [n, { text }] of files.entries()) await shell.writeFile(paths[n], text);
  shell.print(paths.join("\n"));
}

function chosen(source: string, found: readonly FoundKernel[], wanted: readonly string[] | undefined): readonly FoundKernel[] {
  const names = found.map(({ stem }) => stem);
  const unknown = wanted?.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new IsoformError(`${source} has no kernel "${unknown}": it has ${names.join(", ")}`);
  return wanted ? found.filter(({ stem }) => wanted.includes(stem)) : found;
}

async function filesOf(kernels: readonly FoundKernel[], { target, precision, float }: EmitOptions): Promise<EmittedFile[]> {
  const { TARGETS } = await import("../emit/standalone/index.js");
  const typed = float ? await inSinglePrecision(kernels) : kernels;
  return typed.flatMap((kernel) => TARGETS[target]({ ...kernel, precision }));
}

async function inSinglePrecision(kernels: readonly FoundKernel[]): Promise<FoundKernel[]> {
  const { analyseAccess } = await import("../ir/analysis/access.js");
  const { singlePrecision } = await import("../ir/passes/single.js");
  return kernels.map((kernel) => {
    const ir = singlePrecision(kernel.ir);
    return { ...kernel, ir, access: analyseAccess(ir) };
  });
}

/** Prints one file as it is, several under their names. */
function printed(files: readonly EmittedFile[]): string {
  if (files.length === 1) return files[0].text.trimEnd();
  return files
    .map(({ name, text }) => `==> ${name} <==\n${text}`)
    .join("\n")
    .trimEnd();
}

function list(text: string): string[] {
  return text.split(",").map((name) => name.trim());
}

function bounds(text: string): [number, number][] {
  return text.split(",").map((axis) => {
    const [begin, end, ...more] = axis.split(":").map((bound) => (bound.trim() === "" ? NaN : Number(bound)));
    if (more.length > 0 || !Number.isInteger(begin) || !Number.isInteger(end) || end < begin)
      throw new InvalidArgumentError("It needs BEGIN:END for each axis, separated by commas.");
    return [begin, end];
  });
}

function fixedValue(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [name, value] = [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1).trim()];
  if (!name || (!/^(true|false|-?\d+n)$/.test(value) && (value === "" || Number.isNaN(Number(value)))))
    throw new InvalidArgumentError("It needs NAME=NUMBER, NAME=true or NAME=false.");
  return { ...before, [name]: value };
}
