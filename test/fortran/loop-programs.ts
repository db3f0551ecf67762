/*
 * Any parallel loop beside gfortran's code of the same lines: a program is written around the text of each loop, which reads the loop's variables from a
 * file and writes them back. Its directives stay. What the host does around the loop takes no part, so MPI and files are no hindrance.
 */
import type { NumberType } from "../../src/ir/types.js";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findAllocation } from "../../src/fortran/analyse/allocations.js";
import type { ParallelRegion } from "../../src/fortran/analyse/regions.js";
import { directivesOf } from "./loop-directives.js";
import { find, findProcedure, type UnitScope, type Variable } from "../../src/fortran/analyse/symbols.js";
import { eachNode } from "../../src/fortran/analyse/visit.js";
import { variableName } from "../../src/fortran/analyse/walk.js";
import type { FortranKernel } from "../../src/fortran/host/kernels.js";
import { expressionText } from "../../src/fortran/print/expressions.js";
import { IndentedLines } from "../../src/fortran/print/statements.js";
import type { Bound, Expr } from "../../src/fortran/tree/index.js";

/** A loop as a kernel and as text. */
export interface Loop {
  readonly kernel: FortranKernel;
  readonly region: ParallelRegion;
  /** The lines of its file behind the preprocessor. */
  readonly source: readonly string[];
  /** The lines of other files, whose procedures it may call. */
  readonly others?: ReadonlyMap<string, readonly string[]>;
}

/** A variable's value before a loop or behind it; an array with its extents in Fortran's order. */
export interface Held {
  readonly extents?: readonly number[];
  readonly data: Float64Array | Float32Array | Int32Array | Uint8Array;
}
export type Values = ReadonlyMap<string, Held>;

/** Why no program can be written around a loop. */
export class Unrunnable extends Error {}

const TYPES: Readonly<Record<NumberType | "bool", string>> = {
  f64: "real(8)",
  f32: "real(4)",
  i32: "integer(4)",
  u32: "integer(4)",
  bool: "logical(4)",
};

/** The variables that go into a loop and come out of it, by their names in the program. */
export function variablesOf({ kernel: { lowered }, region: { scope, kept } }: Loop): Map<string, Variable> {
  const found = new Map<string, Variable>();
  for (const { name, variable } of lowered.sources.values()) found.set(name, variable);
  for (const name of [...lowered.outcomes.map((outcome) => outcome.name), ...kept]) {
    const variable = find(scope, name);
    if (variable && (!kept.includes(name) || !(variable.dims || variable.derived || variable.refused))) found.set(name, variable);
  }
  return found;
}

/** The loop's own lines, without what gfortran's `do concurrent` lacks. @throws Unrunnable */
export function textOf({ region, source }: Pick<Loop, "region" | "source">): string[] {
  if (region.stmt === undefined) return threads(region);
  const first = source.findIndex((line, n) => n >= region.at.line - 1 && /^\s*(\w+\s*:\s*)?do\b/i.test(line));
  let depth = 0;
  for (let n = first; n >= 0 && n < source.length; n++) {
    if (/^\s*end\s*do\b/i.test(source[n])) depth--;
    else if (/^\s*(\w+\s*:\s*)?do(\s+\w+\s*=|\s+while\b|\s+concurrent\b|\s*$|\s*!)/i.test(source[n])) depth++;
    if (depth === 0) return source.slice(first, n + 1).map((line) => line.replace(/\b(local|local_init|shared|reduce)\s*\([^)]*\)/gi, ""));
  }
  throw new Unrunnable("its end is not found");
}

/** A kernel over threads as loops. */
function threads({ axes, body, mask }: ParallelRegion): string[] {
  const heads = axes.map(({ variable, start, stop }) => {
    if (!stop) throw new Unrunnable("its launch tells how many threads it has");
    return `do ${variable} = ${expressionText(start)}, ${expressionText(stop)}`;
  });
  const out = new IndentedLines();
  out.statements(body);
  const masked = mask ? [`if (${expressionText(mask)}) then`, ...out.lines, "end if"] : out.lines;
  return [...heads, ...masked, ...heads.map(() => "end do")];
}

/** A subroutine `name` without arguments. @throws Unrunnable */
export function subroutineOf(loop: Loop, name: string): string {
  const { scope, stmt, axes, body } = loop.region;
  const given = variablesOf(loop);
  const [constants, locals, procedures]: [string[], string[], string[]] = [[], [], []];
  const known = new Set<string>();
  const arrays = new Map<string, boolean>();
  const declare = (word: string, from: UnitScope): void => {
    if (known.has(word)) return;
    known.add(word);
    const variable = given.get(word) ?? find(from, word);
    if (!variable && axes.some((axis) => axis.variable === word)) locals.push(`integer(4) :: ${word}`);
    if (variable?.derived) return;
    const procedure = variable ? undefined : findProcedure(from, word);
    if (procedure) {
      procedures.push(...procedureText(procedure, loop));
      for (const each of wordsIn(procedure.unit)) if (!procedure.variables.has(each)) declare(each, procedure);
    }
    if (!variable) return;
    if (variable.refused && !variable.byte) throw new Unrunnable(`${variable.refused.construct}: ${variable.refused.why}`);
    const dims = given.has(word) ? boundsOf(variable) : (variable.dims ?? []);
    for (const part of [variable.value, ...dims.flatMap(({ lower, upper }) => [lower, upper === "*" ? undefined : upper])])
      if (part) wordsIn(part).forEach((each) => declare(each, variable.scope));
    if (!variable.value) arrays.set(word, dims.length > 0);
    const type = variable.byte ? "integer(1)" : TYPES[variable.type as NumberType | "bool"];
    if (variable.value) constants.push(`${type}, parameter :: ${word}${shape(dims)} = ${expressionText(variable.value)}`);
    else if (given.has(word) && dims.length > 0) locals.push(`${type}, allocatable :: ${word}(${dims.map(() => ":").join(",")})`);
    else locals.push(`${type} :: ${word}${shape(dims)}`);
  };
  for (const word of [...given.keys(), ...wordsIn(stmt ?? [axes, body])]) declare(word, scope);
  const reads = [...given].sort(([, a], [, b]) => Number(a.dims !== undefined) - Number(b.dims !== undefined));
  const read = reads.flatMap(([word, variable]) => {
    const lowers = boundsOf(variable).map(({ lower }) => (lower ? expressionText(lower) : "1"));
    if (lowers.length === 0) return [`read(10) ${word}`];
    const allocated = lowers.map((lower, axis) => `${lower}:${lower}+extents_(${axis + 1})-1`);
    return [`read(10) extents_(1:${lowers.length})`, `allocate(${word}(${allocated.join(",")}))`, `read(10) ${word}`];
  });
  const written = reads.map(([word]) => `write(11) ${word}`);
  const head = [
    `subroutine ${name}()`,
    "use, intrinsic :: iso_fortran_env",
    "use, intrinsic :: iso_c_binding",
    "implicit none",
    ...constants,
    ...locals,
  ];
  const { open, close, sentinel } = directivesOf(loop.region, (word) => (arrays.has(word) ? !arrays.get(word) : undefined));
  const inner = procedures.length > 0 ? ["contains", ...procedures] : [];
  return [
    ...head,
    "integer(4) :: extents_(7)",
    ...read,
    ...open,
    ...withoutParts(
      textOf(loop).filter((line) => isTaken(line, sentinel)),
      given,
    ),
    ...close,
    ...written,
    ...inner,
    `end subroutine ${name}`,
  ].join("\n");
}

/** False of directives of another standard. */
const isTaken = (line: string, sentinel: string | undefined): boolean => {
  const [, word] = /^\s*!\$(acc|omp)\b/i.exec(line) ?? [];
  return word === undefined || word.toLowerCase() === sentinel;
};

/** Components are variables of their own: `f%data` is `f_data`. */
const withoutParts = (lines: readonly string[], given: ReadonlyMap<string, Variable>): string[] =>
  lines.map((line) =>
    line.replace(/\w+(\s*%\s*\w+)+/g, (part) => {
      const name = part.replace(/\s*%\s*/g, "_").toLowerCase();
      if (given.has(name)) return name;
      throw new Unrunnable(`a component, ${part}`);
    }),
  );

/** The lines of a procedure. */
function procedureText({ unit }: UnitScope, { region, source: own, others }: Loop): string[] {
  const source = unit.at.file === region.at.file ? own : others?.get(unit.at.file);
  if (!source) throw new Unrunnable(`it calls ${unit.name} of another file`);
  const first = unit.at.line - 1;
  const last = source.findIndex((line, n) => n > first && /^\s*end\s*(subroutine|function)\b/i.test(line));
  if (last < 0) throw new Unrunnable(`the end of ${unit.name} is not found`);
  return source.slice(first, last + 1);
}

const endOf = (end: Bound["upper"]): string => (end === "*" ? end : end ? expressionText(end, true) : "");

const shape = (dims: readonly Bound[]): string =>
  dims.length > 0 ? `(${dims.map(({ lower, upper }) => `${lower ? expressionText(lower, true) : "1"}:${endOf(upper)}`).join(",")})` : "";

const boundsOf = (variable: Variable): readonly Bound[] => findAllocation(variable)?.bounds ?? variable.dims ?? [];

/** Names of variables, functions and kinds that stand somewhere in a tree. */
function wordsIn(tree: unknown): Set<string> {
  const words = new Set<string>();
  eachNode(tree, (node) => {
    const e = node as Expr;
    if (e.kind === "name") words.add(e.name);
    if (e.kind === "part") words.add(variableName(e));
    if (e.kind === "literal" && e.suffix && !/^\d/.test(e.suffix)) words.add(e.suffix);
    if ("variable" in node && typeof node.variable === "string") words.add(node.variable);
  });
  return words;
}

/** One program for many loops. */
export class LoopProgram {
  private readonly folder = mkdtempSync(join(tmpdir(), "isoform-loops-"));

  constructor(private readonly loops: readonly Loop[]) {
    const cases = loops.map((_, n) => `case (${n}); call loop_${n}()`);
    const main = `program loops
implicit none
integer(4) :: number, status
open(10, file='in', access='stream', form='unformatted', status='old')
open(11, file='out', access='stream', form='unformatted', status='replace')
do
read(10, iostat=status) number
if (status /= 0) exit
select case (number)
${cases.join("\n")}
end select
end do
end program`;
    writeFileSync(join(this.folder, "loops.f90"), [main, ...loops.map((loop, n) => subroutineOf(loop, `loop_${n}`))].join("\n"));
    const options = ["-O2", "-ffp-contract=off", "-fcheck=bounds", "-ffree-line-length-none", "-w", "-fopenacc", "-fopenmp"];
    try {
      execFileSync("gfortran", [...options, "loops.f90", "-o", "loops"], { cwd: this.folder, stdio: ["ignore", "ignore", "pipe"] });
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** What the variables of each loop are behind it. */
  run(cases: readonly { readonly loop: Loop; readonly values: Values }[]): Values[] {
    const parts = cases.map(({ loop, values }) => ({ number: this.loops.indexOf(loop), order: this.order(loop), values }));
    const input = parts.flatMap(({ number, order, values }) => [
      Int32Array.of(number),
      ...order.flatMap((word) => {
        const { extents, data } = values.get(word)!;
        return extents ? [Int32Array.from(extents), data] : [data];
      }),
    ]);
    writeFileSync(join(this.folder, "in"), Buffer.concat(input.map((list) => Buffer.from(list.buffer, list.byteOffset, list.byteLength))));
    // Sums of several threads come in another order each time.
    const env = { ...process.env, OMP_NUM_THREADS: "1" };
    execFileSync(join(this.folder, "loops"), [], { cwd: this.folder, env, stdio: ["ignore", "ignore", "pipe"] });
    const out = readFileSync(join(this.folder, "out"));
    let at = out.byteOffset;
    return parts.map(
      ({ order, values }) =>
        new Map(
          order.map((word) => {
            const before = values.get(word)!;
            const own = out.buffer.slice(at, (at += before.data.byteLength));
            const List = before.data.constructor as Float64ArrayConstructor;
            return [word, { ...before, data: new List(own) as Held["data"] }];
          }),
        ),
    );
  }

  private order(loop: Loop): string[] {
    const variables = [...variablesOf(loop)];
    return [false, true].flatMap((arrays) => variables.filter(([, { dims }]) => (dims !== undefined) === arrays).map(([word]) => word));
  }

  close(): void {
    rmSync(this.folder, { recursive: true });
  }
}
