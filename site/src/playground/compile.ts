import * as isoform from "isoform";
import { compileKernel, KernelError, type CompiledKernel, type Kernel } from "isoform";
import { contiguousRows, cubicSizes, TARGETS, type EmitRequest } from "isoform/emit";
import { costOf, printKernel } from "isoform/ir";
import type { Forms, ProgramProblem } from "./messages.js";
import { ModuleError } from "./module-error.js";

/** Notes of a module on a run: extents of all arrays along each axis, bounds along each axis of the range, values of scalars. */
interface LaunchNotes {
  readonly size?: number;
  readonly range?: readonly (readonly [begin: number, end: number])[];
  readonly [scalar: string]: unknown;
}

/** A kernel in all forms, and what a run of it needs. */
export interface Compiled extends Forms {
  readonly kernel: Kernel;
  readonly sizes: EmitRequest["sizes"];
  readonly notes: LaunchNotes;
}

const DEFAULT_SIZE = 256;

/** The first kernel that a module exports, in all forms. Throws `ModuleError` with the places in `text`. */
export async function compileModule(text: string): Promise<Compiled> {
  const { withoutTypes } = await import("./types.js");
  const script = withoutTypes(text);
  const module = await load(script);
  const kernel = Object.values(module).find(isKernel);
  if (!kernel) throw new ModuleError([{ message: "the module exports no kernel", remedy: "export const name = kernel(...)" }]);
  const notes = (module.launch ?? {}) as LaunchNotes;
  try {
    const strict = compileKernel(kernel, fixedOf(kernel, notes));
    return describe(kernel, strict, notes);
  } catch (error) {
    throw error instanceof KernelError ? new ModuleError([problemOf(error, kernel, script)]) : error;
  }
}

/** Loads a script as a module; imports of `isoform` are answered by the page's own, on the same lines. */
async function load(script: string): Promise<Record<string, unknown>> {
  Object.assign(globalThis, { isoform });
  const own = script.replace(/^import\s*\{([^}]*)\}\s*from\s*["']isoform["']/gm, (_, names: string) => {
    return `const {${names.replace(/\bas\b/g, ":")}} = globalThis.isoform`;
  });
  const url = URL.createObjectURL(new Blob([own], { type: "text/javascript" }));
  try {
    return (await import(/* @vite-ignore */ url)) as Record<string, unknown>;
  } catch (error) {
    throw new ModuleError([loadProblem(error as Error, url)]);
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Error that a module threw when it ran, and its place. */
function loadProblem(error: Error, url: string): ProgramProblem {
  if (error instanceof KernelError) return { message: error.problem, remedy: error.remedy, line: error.location.line };
  const behind = error.stack?.split(`${url}:`)[1] ?? "";
  const [, line, column] = /^(\d+):(\d+)/.exec(behind) ?? [];
  return { message: error.message, ...(line && { line: Number(line), column: Number(column) }) };
}

const isKernel = (value: unknown): value is Kernel =>
  typeof value === "object" && value !== null && "policy" in value && "body" in value && "params" in value;

function fixedOf({ params }: Kernel, notes: LaunchNotes): Record<string, number | boolean> {
  const names = Object.entries(params).flatMap(([name, token]) => (typeof token === "object" && token.kind === "fixed" ? [name] : []));
  return Object.fromEntries(
    names.map((name) => {
      const value = notes[name];
      if (typeof value !== "number" && typeof value !== "boolean")
        throw new ModuleError([{ message: `the fixed parameter ${name} has no value`, remedy: `export const launch = { ${name}: 4 }` }]);
      return [name, value];
    }),
  );
}

/**
 * The place of an error in the module. The library cannot read the text of a page's modules, and counts lines from the call of `kernel`;
 * the body may begin on a later one.
 */
function problemOf({ problem, remedy, location }: KernelError, kernel: Kernel, script: string): ProgramProblem {
  const body = script.indexOf(kernel.body.toString());
  if (body < 0 || kernel.location.line === 0) return { message: problem, remedy };
  const before = script.slice(0, body).split("\n");
  const down = location.line - kernel.location.line;
  const column = down === 0 ? location.column - kernel.location.column + before.at(-1)!.length + 1 : location.column;
  return { message: problem, remedy, line: before.length + down, column };
}

function describe(kernel: Kernel, { ir, access }: CompiledKernel, notes: LaunchNotes): Compiled {
  const { size = DEFAULT_SIZE, range } = notes;
  if (!(Number.isInteger(size) && size > 0))
    throw new ModuleError([{ message: `launch.size is ${String(size)}`, remedy: "give a whole number of at least 1" }]);
  const sizes = cubicSizes(ir, size, range);
  const stem = ir.name.replace(/\W+/g, "_").replace(/^(?=\d)/, "k");
  const request: EmitRequest = { ir, access, precision: "fast", stem, unitStrides: contiguousRows(ir), sizes };
  const emitted = Object.entries(TARGETS).map(([target, emit]) => [target, emitOr(() => emit(request), nameOf(kernel.location.file))]);
  const scalars = Object.fromEntries(Object.entries(notes).filter(([, value]) => typeof value === "number")) as Record<string, number>;
  const { flops, bytes } = costOf(ir, { ...sizes, scalars });
  const texts = { IR: printKernel(ir), ...Object.fromEntries(emitted) };
  return { kernel, sizes, notes, texts, work: { flops, bytes } };
}

/** The module's name as emitted files tell it. */
const nameOf = (file: string): string => file.split("/").pop()!;

/** The files that are emitted, or why there are none; `blob` is the name of the module that was loaded. */
function emitOr(emit: () => readonly { readonly name: string; readonly text: string }[], blob: string): string {
  try {
    const files = emit();
    const texts = files.map(({ name, text }) => (files.length > 1 ? `==== ${name} ====\n${text}` : text));
    return texts.join("\n").replaceAll(blob, "the playground");
  } catch (error) {
    if (error instanceof isoform.IsoformError) return error.message;
    throw error;
  }
}
