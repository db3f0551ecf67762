import type ts from "typescript";
import { analyseContainer, unrollOffsets } from "../domain/container/analysis.js";
import { cellByCell, marchLoop } from "../domain/container/march.js";
import { asContainer } from "../domain/container/declare.js";
import { requireOwn } from "../domain/particles/declare-particles.js";
import { sumByCell } from "../domain/particles/deposits.js";
import { KernelError, LaunchError } from "../base/errors.js";
import type { Location } from "../base/location.js";
import type { KernelIR } from "../ir/types.js";
import { compileKernel } from "../kernel/compile.js";
import type { Captures } from "../kernel/declare/captures.js";
import { declareKernel } from "../kernel/declare/kernel.js";
import { lower, type LowerSource } from "../kernel/lower/lower.js";
import { ContainerReader, MANY_GHOSTS, type ContainerParts } from "./container-params.js";
import { DeclarationMistake, type Evaluator } from "./evaluate.js";
import type { DeclaringCall } from "./find-declarations.js";
import { locationAt } from "./functions.js";
import { problemOf, type CheckedKernel, type KernelProblem } from "./problems.js";
import { UnknownValue } from "./scope.js";

/* Checks of one declaration: what it is given is evaluated, and compiled as a run of the program would compile it. */

/** Parts of a declaration. */
interface Given {
  readonly name: string;
  readonly params: ts.Expression;
  readonly body: LowerSource["body"];
  readonly captures: Captures | undefined;
  readonly options: ts.Expression | undefined;
  readonly location: Location;
}

/** Checks a declaration, for each call of the functions around it that gives what it depends on. */
export function checkDeclaration(values: Evaluator, declared: DeclaringCall): CheckedKernel {
  const { node, callee } = declared;
  const { names } = values;
  const at = locationAt(node.getSourceFile(), callee.getStart());
  const whole = { at, span: [node.getStart(), node.end] as const };
  const problems = new Map<string, KernelProblem>();
  let [unknown, ir]: [string | undefined, KernelIR | undefined] = [undefined, undefined];
  let [name, known] = [node.arguments[0].getText().replace(/^["'`](.*)["'`]$/, "$1"), false];
  [names.turn, names.turns] = [0, 1];
  for (; names.turn < names.turns; names.turn++) {
    try {
      const found = values.choices.some(
        () => {
          values.forget();
          const given = givenTo(values, declared, at);
          return { name: given.name, ir: compiled(values, declared, given) };
        },
        (error) => (error instanceof UnknownValue ? error.message : JSON.stringify(mistakeOf(error, at))),
        () => new UnknownValue("a number or a type that callers choose"),
      );
      ({ name, ir } = found);
      known = true;
    } catch (error) {
      if (error instanceof UnknownValue) {
        unknown ??= error.message;
        continue;
      }
      const problem = mistakeOf(error, at);
      problems.set(JSON.stringify(problem), problem);
    }
  }
  const left = known || problems.size > 0 ? {} : { unknown };
  return { name, ...whole, problems: [...problems.values()], ir, ...left };
}

/** Throws what is a fault of this program, not of the one that is checked. */
function mistakeOf(error: unknown, at: Location): KernelProblem {
  if (error instanceof KernelError) return problemOf(error);
  if (error instanceof DeclarationMistake && error.cause instanceof LaunchError) {
    const place = locationAt(error.node.getSourceFile(), error.node.getStart());
    // It names a file and a line of its own call.
    return { ...place, what: undefined, problem: error.cause.message.replace(/ \([^()]*:\d+\)/, ""), remedy: undefined };
  }
  if (error instanceof LaunchError) return { ...at, what: undefined, problem: error.message, remedy: undefined };
  throw error;
}

function givenTo(values: Evaluator, { node }: DeclaringCall, location: Location): Given {
  const [name, params, body, captures, options] = node.arguments;
  const list = captures && values.valueOf(captures);
  values.listLater(list);
  return {
    name: nameOf(values, name),
    params,
    body: values.valueOf(body) as Given["body"],
    captures: list as Captures | undefined,
    options,
    location,
  };
}

/** A name that is made up as the program runs is told as it is written. */
function nameOf(values: Evaluator, node: ts.Expression): string {
  try {
    return values.valueOf(node) as string;
  } catch (error) {
    if (error instanceof UnknownValue) return node.getText().replace(/^[`"'](.*)[`"']$/, "$1");
    throw error;
  }
}

function compiled(values: Evaluator, declared: DeclaringCall, given: Given): KernelIR | undefined {
  const { kind } = declared;
  if (kind === "kernel" || kind === "teamKernel") return compiledKernel(values, kind === "kernel" ? "range" : "team", given);
  const parts = new ContainerReader(values, declared, declared.node.arguments[2].getText()).read(given.params);
  values.settle();
  return asContainer(() =>
    kind === "scalarStep" ? lower(sourceOf(given, parts, "once"), {}) : compiledCells(values, declared, given, parts),
  );
}

const sourceOf = ({ name, body, captures, location }: Given, { tokens }: ContainerParts, policy: LowerSource["policy"]): LowerSource => ({
  name,
  params: tokens,
  policy,
  body,
  captures,
  location,
});

/* Kernels. */

function compiledKernel(values: Evaluator, policy: "range" | "team", given: Given): KernelIR {
  const params = Object.fromEntries(
    values
      .partsOf(given.params)
      .map(({ name, node, type, value }) => [name, value ?? (node ? values.valueOf(node) : values.valueOfType(type, given.params, name))]),
  );
  values.settle();
  const kernel = declareKernel(policy, given.name, params as never, given.body, given.captures, given.location);
  // Each launch gives its own values of parameters that are compiled in.
  const fixed = Object.entries(kernel.params).flatMap(([name, token]) => {
    const { kind, type } = (token ?? {}) as { kind?: string; type?: string };
    if (kind !== "fixed") return [];
    const value = values.choices.number();
    return [[name, type === "bool" ? value === 1 : value] as const];
  });
  return compileKernel(kernel, Object.fromEntries(fixed)).ir;
}

/* Containers. */

/** Cells along each axis, where the number is known only when the program runs. */
const MANY_CELLS = 1024;

function compiledCells(values: Evaluator, declared: DeclaringCall, given: Given, parts: ContainerParts): KernelIR {
  const { dimension, fields, axisArrays } = parts;
  const extents = Array.from({ length: dimension }, () => MANY_CELLS);
  const grid = { extents, ghosts: extents.map((): [number, number] => [MANY_GHOSTS, MANY_GHOSTS]) };
  if (declared.kind === "overParticles") return compiledParticles(given, parts, grid);
  const options = given.options ? values.partsOf(given.options) : [];
  const march = options.find(({ name }) => name === "march")?.node;
  const axis = march && dimension - 1 - "xyz".indexOf(values.valueOf(march) as string);
  const lowered = lower(sourceOf(given, parts, { cells: dimension, march: axis }), {});
  // Cells on a face may write ghosts, which is known where the grid is.
  if (options.some(({ name }) => name === "on")) return lowered;
  const loop = axis === undefined ? undefined : marchLoop(lowered, axis);
  return analyseContainer(loop ? cellByCell(lowered, loop) : lowered, fields as never, grid, axisArrays as never).ir;
}

function compiledParticles(given: Given, parts: ContainerParts, grid: { extents: number[]; ghosts: [number, number][] }): KernelIR {
  const { dimension, tokens, fields, axisArrays, columns } = parts;
  const lists = { first: freeName(tokens, "first"), count: freeName(tokens, "count") };
  for (const name of Object.values(lists)) {
    tokens[name] = { kind: "field", element: "i32", cardinality: 1, level: "own" };
    fields.set(name, { level: "own", field: { cardinality: 1 } });
  }
  const deposits = Object.keys(tokens).filter((name) => (tokens[name] as { kind?: string }).kind === "deposit");
  const lowered = lower(sourceOf(given, parts, { cells: dimension, particles: lists }), {});
  const unrolled = unrollOffsets(lowered, { has: (name) => fields.has(name) || deposits.includes(name) });
  requireOwn(unrolled, { columns, fields });
  const { ir, slots } = sumByCell(unrolled);
  for (const [name, list] of slots) fields.set(name, { level: "own", field: { cardinality: list.length } });
  return analyseContainer(ir, fields as never, grid, axisArrays as never).ir;
}

function freeName(tokens: object, wish: string): string {
  return Object.hasOwn(tokens, wish) ? freeName(tokens, `${wish}_`) : wish;
}
