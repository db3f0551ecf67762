import { compileKernel, IsoformError, type Device, type View } from "isoform";
import { FortranError, readFortran, type FortranCode } from "isoform/fortran";
import { costOf } from "isoform/ir";
import { ModuleError } from "./module-error.js";
import { numbers, secondsOf, SHOWN } from "./measure.js";
import type { Forms, ProgramProblem, VisitorProgram, Ran } from "./messages.js";

/*
 * Fortran in the playground. Loaded with the first program in it.
 */

/** In messages, and for what tells free form from fixed. */
const FILE = "playground.f90";

/** Comment that gives the run: `! run smooth with nx = 512, a = 0.2`; else the first subroutine is run, without arguments. */
const RUN = /^[ \t]*![ \t]*run[ \t]+(\w+)(?:[ \t]+with[ \t]+(.*))?$/im;

interface Call {
  readonly routine: string;
  readonly scalars: Readonly<Record<string, number | boolean>>;
}

/** A program in all forms, and how it is run. */
export interface CompiledFortran extends Forms {
  readonly code: FortranCode;
  readonly call: Call;
}

/** Throws ModuleError with the places of all problems. */
export async function compileFortran({ text, reals }: VisitorProgram): Promise<CompiledFortran> {
  try {
    const code = await readFortran(text, { file: FILE, ...(reals === "f32" && { kinds: { rkind: "f32" } }) }).compile();
    const call = callOf(text, code);
    const { textsOf } = await import("./fortran-ports.js");
    return { code, call, texts: await textsOf(code, FILE, text), work: workOf(code, call) };
  } catch (error) {
    throw error instanceof FortranError ? new ModuleError(problemsOf(error)) : error;
  }
}

const problemsOf = ({ problems }: FortranError): ProgramProblem[] =>
  problems.map(({ at: { line, column }, construct, why, remedy }) => ({ message: `${construct}: ${why}`, remedy, line, column }));

function callOf(text: string, { routines }: FortranCode): Call {
  const found = RUN.exec(text);
  const routine = (found?.[1] ?? routines[0])?.toLowerCase();
  if (routine === undefined)
    throw new ModuleError([{ message: "the program has no subroutine", remedy: "kernels are loops of subroutines" }]);
  const line = found ? text.slice(0, found.index).split("\n").length : undefined;
  if (!routines.includes(routine))
    throw new ModuleError([{ message: `there is no subroutine ${routine}`, remedy: `there are ${routines.join(", ")}`, line }]);
  const pairs = (found?.[2] ?? "").split(",").filter((pair) => pair.trim() !== "");
  const scalars = pairs.map((pair) => {
    const [, name, value] = /^\s*(\w+)\s*=\s*(\S+)\s*$/.exec(pair) ?? [];
    const known = value === ".true." || value === ".false." ? value === ".true." : Number(value?.replace(/d/i, "e").replace(/_\w+$/, ""));
    if (name === undefined || Number.isNaN(known))
      throw new ModuleError([{ message: `"${pair.trim()}" gives no argument a value`, remedy: `! run ${routine} with n = 1000`, line }]);
    return [name.toLowerCase(), known] as const;
  });
  return { routine, scalars: Object.fromEntries(scalars) };
}

/** Work of one launch of each kernel of the routine; undefined if a size is not among the given values. */
function workOf(code: FortranCode, { routine, scalars }: Call): Forms["work"] {
  let [flops, bytes] = [0, 0];
  try {
    for (const [name, kernel] of code.kernels) {
      if (name.split("#")[0] !== routine) continue;
      const { ir } = compileKernel(kernel);
      const views = Object.fromEntries(
        ir.params.filter(({ kind }) => kind === "view").map(({ name }) => [name, shapeOf(code.extents(routine, name, scalars))]),
      );
      const { kind: _, ...policy } = kernel.range({ ...scalars, ...views });
      const cost = costOf(ir, { policy: { kind: "range", ...policy }, views, scalars: numbersOf(scalars) });
      flops += cost.flops;
      bytes += cost.bytes;
    }
    return { flops, bytes };
  } catch (error) {
    if (error instanceof IsoformError) return undefined;
    throw error;
  }
}

const shapeOf = (shape: readonly number[]) => ({
  shape,
  strides: shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1)),
});

const numbersOf = (scalars: Call["scalars"]): Record<string, number> =>
  Object.fromEntries(Object.entries(scalars).filter((pair): pair is [string, number] => typeof pair[1] === "number"));

/** Calls the routine on arrays of numbers between 0 and 1, and measures a call. Throws IsoformError. */
export async function runFortran({ code, call: { routine, scalars } }: CompiledFortran, device: Device): Promise<Ran> {
  const views: Record<string, View> = {};
  const target = code.routine(routine);
  try {
    for (const name of arraysOf(code, target.arguments)) {
      const view = code.array(device, routine, name, scalars);
      views[name] = view;
      device.queue.write(view, numbers(view.size, view.type !== "f32" && view.type !== "f64"));
    }
    const args = { ...scalars, ...views };
    const results = await target.run(device, args);
    const samples: Record<string, readonly number[]> = {};
    for (const [name, view] of Object.entries(views)) samples[name] = [...(await device.queue.read(view))].slice(0, SHOWN);
    const seconds = await secondsOf(async (count) => {
      for (let n = 0; n < count; n++) await target.run(device, args);
      await device.queue.finish();
    });
    return {
      device: `${device.name}, ${device.label}`,
      of: "call",
      seconds,
      results: results as Record<string, number | boolean>,
      samples,
      remarks: [],
    };
  } finally {
    for (const view of Object.values(views)) view.free();
  }
}

/** Dummy arguments that some kernel takes as arrays. */
function arraysOf({ kernels }: FortranCode, names: readonly string[]): string[] {
  const arrays = [...kernels.values()].flatMap(({ lowered }) => lowered.ir.params.filter(({ kind }) => kind === "view"));
  return names.filter((name) => arrays.some((array) => array.name === name));
}
