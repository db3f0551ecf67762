/* The kernels of Fortran's loops as source files of other languages. */

import { contiguousRows, cubicSizes, TARGETS, type EmittedFile } from "../emit/standalone/index.js";
import type { TargetName } from "../emit/standalone/names.js";
import { EmitError } from "../base/errors.js";
import { compileKernel } from "../kernel/compile.js";
import type { FortranKernel } from "./host/kernels.js";
import { expressionText } from "./print/expressions.js";

export interface Refused {
  readonly kernel: string;
  /** The whole message, and what it is made of. */
  readonly why: string;
  readonly problem: string;
  readonly remedy: string;
}

export interface Emitted {
  readonly files: readonly (EmittedFile & { readonly kernel: string })[];
  readonly refused: readonly Refused[];
}

/** Extents of arrays and ranges in languages that compile them in. */
const SIZE = 64;

/** Notes for a caller who has the Fortran source. */
function notesOf({ lowered: { axes, outcomes, sources, rows } }: FortranKernel): string[] {
  const text = ({ start, stop, step }: (typeof axes)[number]): string =>
    [start, stop, step]
      .map((e) => (e ? expressionText(e, true) : undefined))
      .filter((e) => e !== undefined)
      .join(", ");
  const loops = axes.map((axis) => `${axis.variable} = ${text(axis)}`);
  const arrays = [...sources.values()].some(({ extents }) => extents !== undefined);
  return [
    ...(loops.length > 0 ? [`Loops, counted here from 0 (begin) to the number of iterations (end): ${loops.join("; ")}.`] : []),
    ...(arrays ? ["Arrays have Fortran's memory order, with their axes reversed; element 0 is the first one, whatever the bounds."] : []),
    ...[...sources].flatMap(([param, { variable }]) =>
      variable.objects
        ? [`${param} holds one component of all objects of an array, side by side: copy it from the objects, and back.`]
        : [],
    ),
    ...rows.map(({ param }) => `${param} is work memory of the kernel: a row for each element of the range.`),
    ...outcomes.map(({ name, op, param, assigned, least }) => {
      if (op) return `The result does not include the value that ${name} had before the loop: combine the two by ${op}.`;
      if (assigned === undefined) return `${name} is the return value.`;
      const agree = least === undefined ? "" : ` If ${least} differs from it, iterations assigned different values.`;
      return `${param} is the new value of ${name} if ${assigned}, the number of iterations that assigned it, is above 0; otherwise ${name} keeps its value.${agree}`;
    }),
  ];
}

/** Each kernel in a language, and why some cannot be written in it. `stemOf`: the name of its files and functions. */
export function emitKernels(
  kernels: ReadonlyMap<string, FortranKernel>,
  target: TargetName,
  stemOf: (kernel: string) => string = (name) => name.replace("#", "_"),
): Emitted {
  const files: (EmittedFile & { kernel: string })[] = [];
  const refused: Refused[] = [];
  for (const [name, kernel] of kernels) {
    const { ir, access } = compileKernel(kernel);
    const shared = { ir, access, precision: "strict" as const, unitStrides: contiguousRows(ir), sizes: cubicSizes(ir, SIZE) };
    try {
      const made = TARGETS[target]({ ...shared, stem: stemOf(name), notes: notesOf(kernel) });
      files.push(...made.map((file) => ({ ...file, kernel: name })));
    } catch (error) {
      if (!(error instanceof EmitError)) throw error;
      refused.push({ kernel: name, why: error.message, problem: error.problem, remedy: error.remedy });
    }
  }
  return { files, refused };
}
