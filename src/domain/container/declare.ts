import { originalPosition } from "#source-map";
import type { Location } from "../../ir/types.js";
import type { Dimension } from "../../kernel/cells.js";
import { describe } from "../../kernel/describe.js";
import { ContainerError, KernelError } from "../../ir/errors.js";
import type { Captures } from "../../kernel/captures.js";
import { lower, type Source } from "../../kernel/lower.js";
import { bool, f64, type ParamToken } from "../../kernel/params.js";
import { Scalar } from "../../set/scalar.js";
import { AxisArray } from "../grid/axis-array.js";
import { analyseContainer } from "./analysis.js";
import {
  Field,
  type Container,
  type ContainerBody,
  type ContainerParam,
  type ContainerParams,
  type FieldUse,
  type Grid,
} from "../grid/grid.js";

/**
 * Lowers and analyses the body of a container; what it reads, writes and reduces, and with which neighbours, is found from its code.
 * Throws ContainerError with the author's line where it is outside the language (docs/domain.md), where a field belongs to another grid,
 * and where cells would race.
 *
 * @param calledAt where the author calls for it; his lines are found from there
 */
export function declareContainer<const P extends ContainerParams, D extends Dimension>(
  grid: Grid<D>,
  name: string,
  params: P,
  body: ContainerBody<P, D>,
  calledAt: Location,
  captures?: Captures,
): Container {
  const location = originalPosition(calledAt);
  requireArguments(
    name,
    params,
    body,
    captures,
    location,
    'grid.container("name", { p, q }, ({ p, q }, c) => ..., () => [helper, CONSTANT])',
  );
  const declared = new Declarations(grid as Grid, name, location);
  for (const [param, value] of Object.entries(params)) declared.add(param, value);
  const { tokens, fields, scalars, reductions, values, axisArrays } = declared;
  const source: Source = {
    name,
    params: tokens,
    policy: { cells: grid.dimension },
    body: body as Source["body"],
    captures,
    location: calledAt,
  };
  return asContainer(() => {
    const { ir, uses, mask } = analyseContainer(lower(source, {}), fields, grid.extents, axisArrays);
    const stencil = uses.some((use) => use.offsets.length > 0);
    const reduces = reductions.size > 0;
    return { name, grid: grid as Grid, location, ir, uses, scalars, reductions, values, axisArrays, mask, stencil, reduces };
  });
}

/** Throws ContainerError where what a container is declared with is not what `usage` shows. */
export function requireArguments(
  name: unknown,
  params: unknown,
  body: unknown,
  captures: unknown,
  location: Location,
  usage: string,
): void {
  const refuse = (given: string, part: string): never => {
    throw new ContainerError(String(name), location, `it is given ${given} for ${part}`, `write ${usage}`);
  };
  if (typeof name !== "string" || name === "") refuse(name === "" ? "an empty string" : describe(name), "its name");
  if (typeof params !== "object" || params === null || Array.isArray(params)) refuse(describe(params), "its parameters");
  if (typeof body !== "function") refuse(describe(body), "its function");
  if (captures !== undefined && typeof captures !== "function") refuse(describe(captures), "the list of its captures");
}

/** What is wrong with the code is an error of the container. */
export function asContainer<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof KernelError) throw new ContainerError(error.kernel, error.location, error.problem, error.remedy);
    throw error;
  }
}

/** Sorts what a container is given into what its code may name and what stands behind each name. */
export class Declarations {
  readonly tokens: Record<string, Source["params"][string]> = {};
  /** By view parameter: a field that is given twice has the first one's name. */
  readonly fields = new Map<string, Pick<FieldUse, "field" | "level">>();
  readonly scalars = new Map<string, Scalar>();
  readonly reductions = new Map<string, Scalar>();
  readonly values = new Map<string, number | boolean>();
  readonly axisArrays = new Map<string, AxisArray>();

  constructor(
    protected readonly grid: Grid,
    private readonly name: string,
    private readonly location: Location,
  ) {}

  add(param: string, value: ContainerParam): void {
    if (value instanceof Field) return this.addField(param, value);
    if (value instanceof AxisArray) return this.addAxisArray(param, value);
    if (value instanceof Scalar) {
      this.scalars.set(param, this.unreduced(value));
      this.tokens[param] = { kind: "resident", type: value.type };
    } else if (typeof value === "number" || typeof value === "boolean") {
      this.values.set(param, value);
      this.tokens[param] = typeof value === "number" ? f64 : bool;
    } else if (typeof value === "function" || value?.kind === "table") this.tokens[param] = value;
    else if (value?.kind === "reduce" && (value.into as unknown) instanceof Scalar && value.op !== "custom") {
      this.reductions.set(param, this.unreduced(value.into, true));
      this.tokens[param] = value as ParamToken;
    } else this.refuse(param, value);
  }

  protected refuse(param: string, value: unknown): never {
    const token = value as Partial<ParamToken & { kind: string }> | null | undefined;
    if (token?.kind === "scalar")
      this.fail(`the parameter "${param}" is a type and has no value`, "give a number, a truth value or a scalar");
    if (token?.kind === "assign")
      this.fail(
        `the parameter "${param}" is an assignment, which runs once and not for each cell`,
        "write grid.scalarStep, or reduce into it",
      );
    if (token?.kind === "reduce")
      this.fail(`the parameter "${param}" is a reduction whose result goes nowhere`, 'give it a scalar: sum(grid.scalar("name", f64))');
    this.fail(
      `the parameter "${param}" is ${describe(value)}`,
      "give a field, an array along an axis, a scalar, sum(scalar), a number, table(f64, [...]) or a function",
    );
  }

  private addField(param: string, field: Field): void {
    const same = [...this.fields].find(([, use]) => use.field === field)?.[0];
    const level = this.levelOf(field);
    if (same === undefined) this.fields.set(param, { field, level });
    this.tokens[param] = { kind: "field", element: field.type, cardinality: field.cardinality, level, same };
  }

  private addAxisArray(param: string, array: AxisArray): void {
    if (array.grid !== this.grid)
      this.fail(`the array "${param}" was made along an axis of another grid`, "make it by axis(...) of the container's grid");
    this.axisArrays.set(param, array);
    this.tokens[param] = { kind: "axis", element: array.type, axis: array.axis, ghosts: array.ghosts };
  }

  private levelOf(field: Field): FieldUse["level"] {
    const grid: Grid = field.grid;
    if (grid === this.grid) return "own";
    if (grid.coarse === this.grid) return "fine";
    if (this.grid.coarse === grid) return "coarse";
    return this.fail(
      `the field "${field.name}" belongs to another grid, of [${grid.extents}] cells; the container's has [${this.grid.extents}]`,
      "make all fields of a container on its grid, or on a coarser or finer one made from it",
    );
  }

  /** A scalar takes one result, and is not read by the container that makes it: the old value is gone before the last cell reads it. */
  private unreduced(scalar: Scalar, written = false): Scalar {
    const reduced = [...this.reductions.values()].includes(scalar);
    if (reduced && written) this.fail(`two reductions go into the scalar "${scalar.name}"`, "give each reduction a scalar of its own");
    if (reduced || (written && [...this.scalars.values()].includes(scalar)))
      this.fail(`the scalar "${scalar.name}" is read and takes the result of a reduction`, "reduce into another scalar");
    return scalar;
  }

  protected fail(problem: string, remedy: string): never {
    throw new ContainerError(this.name, this.location, problem, remedy);
  }
}
