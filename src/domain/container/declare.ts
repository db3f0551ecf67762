import { isPacked, valueType } from "../../ir/scalars.js";
import { originalPosition } from "#source-map";
import type { Location } from "../../ir/types.js";
import type { Dimension } from "../../kernel/declare/cells.js";
import { otherCopies } from "../../base/copies.js";
import { describe } from "../../base/describe.js";
import { ContainerError, KernelError } from "../../base/errors.js";
import type { Captures } from "../../kernel/declare/captures.js";
import { lower, type LowerSource } from "../../kernel/lower/lower.js";
import { bool, f64, type ParamToken } from "../../kernel/declare/params.js";
import { Scalar } from "../../set/scalar.js";
import { AxisArray } from "../grid/axis-array.js";
import { boxOf, hasGhosts, type CellBox } from "../grid/region.js";
import { analyseContainer, analyseMarch } from "./analysis.js";
import { canMarch, cellByCell, marchAxis, marchLoop } from "./march.js";
import {
  Field,
  type AxisArrayReduction,
  type AxisFold,
  type Container,
  type ContainerBody,
  type ContainerOptions,
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
  options: ContainerOptions = {},
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
  const box = boxFor(grid as Grid, name, options, location);
  const axis = marchAxis(grid as Grid, name, options, location);
  const declared = new Declarations(grid as Grid, name, location);
  for (const [param, value] of Object.entries(params)) declared.add(param, value);
  if (axis !== undefined && declared.axisFolds.size > 0)
    throw new ContainerError(name, location, "marches along an axis and reduces along axes", "write two containers, one for each");
  const { tokens, fields, scalars, reductions, values, axisArrays } = declared;
  const source: LowerSource = {
    name,
    params: tokens,
    policy: { cells: grid.dimension, march: axis },
    body: body as LowerSource["body"],
    captures,
    location: calledAt,
  };
  return asContainer(() => {
    const lowered = lower(source, {});
    const loop = axis === undefined ? undefined : marchLoop(lowered, axis);
    const found = analyseContainer(loop ? cellByCell(lowered, loop) : lowered, fields, grid, axisArrays, box);
    const { ir, uses, mask } = found;
    const stretches =
      loop && canMarch(grid as Grid, axis!, found) ? analyseMarch(lowered, fields, grid, axisArrays, box, found) : undefined;
    const march = stretches && { ir: stretches, axis: axis!, stretch: options.stretch };
    const stencil = uses.some((use) => use.offsets.length > 0);
    const reduces = reductions.size > 0;
    const made: Container = {
      name,
      grid: grid as Grid,
      box,
      location,
      ir,
      uses,
      scalars,
      reductions,
      values,
      axisArrays,
      mask,
      march,
      stencil,
      reduces,
    };
    return declared.axisFolds.size === 0 ? made : withAxisFolds(made, declared.axisFolds);
  });
}

/** A container that reduces into arrays along axes, and how it runs. */
function withAxisFolds(made: Container, tokens: ReadonlyMap<string, AxisArrayReduction>): Container {
  const refuse = (problem: string, remedy: string): never => {
    throw new ContainerError(made.name, made.location, problem, remedy);
  };
  const { grid } = made;
  if (!grid.foldAlongAxes) return refuse(`reduces along axes of a ${grid.kind} grid`, "reduce along axes of dense grids, or into scalars");
  if (made.reductions.size > 0) return refuse("reduces into a scalar and along axes", "write two containers, one for each");
  const reduces = made.ir.params.filter((param) => param.kind === "reduce");
  const axisFolds = [...tokens].map(([param, { into: array, op, accumulate = false, components: taken = [0] }]): AxisFold => {
    const components = reduces.filter(({ name, part }) => name === param || part?.of === param);
    const params = components.sort((a, b) => (a.part?.component ?? 0) - (b.part?.component ?? 0)).map(({ name }) => name);
    return { array, op: op as AxisFold["op"], params, accumulate, first: taken[0] };
  });
  const [first] = axisFolds;
  const other = axisFolds.find(({ array }) => array.axes.join() !== first.array.axes.join());
  if (other)
    refuse(
      `reduces into "${first.array.name}" and "${other.array.name}", which live on different axes`,
      "write a container for each choice of axes",
    );
  const beyond = made.box?.bounds.findIndex(([from, to], axis) => first.array.has(axis) && (from < 0 || to > grid.extents[axis])) ?? -1;
  if (beyond >= 0)
    refuse(
      `reduces into "${first.array.name}" over ghosts along ${"xyz"[beyond]}, an axis that it lives on`,
      "run it on a region without these ghosts",
    );
  return { ...made, axisFolds, reduces: true, inRounds: (container, precision) => grid.foldAlongAxes!(container, precision) };
}

/** The cells over which a container runs. Throws ContainerError if the grid has no such cells. */
function boxFor(grid: Grid, name: string, options: ContainerOptions, location: Location): CellBox | undefined {
  const refuse = (problem: string, remedy: string): never => {
    throw new ContainerError(name, location, problem, remedy);
  };
  for (const option of Object.keys(options))
    if (!["on", "march", "stretch"].includes(option)) refuse(`containers have no option "${option}"`, "use on, march and stretch");
  const box = options.on && boxOf(options.on, grid, refuse);
  if (box && !grid.activity.isFull && hasGhosts(box, grid))
    refuse(`it runs on ghosts (${box.name}) of a grid with inactive cells`, "run it on cells, or make all cells of the grid active");
  if (box?.parity !== undefined && options.march !== undefined)
    refuse(`it marches and runs on ${box.name}`, "leave out march: a march goes through all cells along its axis");
  return box;
}

/** Throws ContainerError if what a container is declared with is not what `usage` shows. */
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

/** Turns an error of the code into an error of the container. */
export function asContainer<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof KernelError) throw new ContainerError(error.kernel, error.location, error.problem, error.remedy);
    throw error;
  }
}

/** Sorts a container's declarations into the names that its code may use and the objects that they stand for. */
export class Declarations {
  readonly tokens: Record<string, LowerSource["params"][string]> = {};
  /** By view parameter: a field that is given twice has the first one's name. */
  readonly fields = new Map<string, Pick<FieldUse, "field" | "level">>();
  readonly scalars = new Map<string, Scalar>();
  readonly reductions = new Map<string, Scalar>();
  readonly values = new Map<string, number | bigint | boolean>();
  readonly axisArrays = new Map<string, AxisArray>();
  readonly axisFolds = new Map<string, AxisArrayReduction>();

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
    else if (value?.kind === "reduce" && value.into instanceof AxisArray) this.addAxisFold(param, value as AxisArrayReduction);
    else if (value?.kind === "reduce" && (value.into as unknown) instanceof Scalar && value.op !== "custom") {
      this.reductions.set(param, this.unreduced(value.into as unknown as Scalar, true));
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
      this.fail(
        `the parameter "${param}" is a reduction whose result goes nowhere${otherCopies()}`,
        'give it a scalar: sum(grid.scalar("name", f64))',
      );
    if (token?.kind === "extremum" || token?.kind === "reduceStruct")
      this.fail(
        `the parameter "${param}" is ${token.kind === "extremum" ? "a value with its place" : "a fold of records"}, which containers do not reduce`,
        "reduce with min or max into a scalar, or write a kernel over an array",
      );
    if (token?.kind === "list")
      this.fail(`the parameter "${param}" is a list, which containers do not take`, "append in a kernel over an array");
    this.fail(
      `the parameter "${param}" is ${describe(value)}`,
      "give a field, an array along an axis, a scalar, sum(scalar), a number, table(f64, [...]) or a function",
    );
  }

  private addField(param: string, field: Field): void {
    const same = [...this.fields].find(([, use]) => use.field === field)?.[0];
    const level = this.levelOf(field);
    if (same === undefined) this.fields.set(param, { field, level });
    this.tokens[param] = {
      kind: "field",
      element: field.type,
      cardinality: field.cardinality,
      level,
      same,
      ...(field.scale !== 1 && { scale: field.scale }),
    };
  }

  private addAxisArray(param: string, array: AxisArray): void {
    this.requireOwnAxes(param, array);
    if ([...this.axisFolds.values()].some(({ into }) => (into as AxisArray) === array)) this.failBoth(array);
    this.axisArrays.set(param, array);
    const { type: element, axes, cardinality, ghosts } = array;
    this.tokens[param] = { kind: "axis", element, axes, cardinality, ghosts };
  }

  protected addAxisFold(param: string, token: AxisArrayReduction): void {
    const array: AxisArray = token.into;
    this.requireOwnAxes(param, array);
    if (isPacked(array.type))
      this.fail(`the array "${param}" is of type ${array.type}, which reductions do not support`, `make it of ${valueType(array.type)}`);
    if ([...this.axisArrays.values()].includes(array)) this.failBoth(array);
    if ([...this.axisFolds.values()].some(({ into }) => (into as AxisArray) === array))
      this.fail(`two reductions go into "${array.name}"`, "give each reduction an array of its own, or components of one");
    const [first, end] = token.components ?? [0, array.cardinality];
    if (![first, end].every(Number.isInteger) || first < 0 || first >= end || end > array.cardinality)
      this.fail(
        `the components from ${first} to ${end} of "${array.name}" take results, and it has ${array.cardinality}`,
        "give { components: [first, end] }, where end is one after the last",
      );
    this.axisFolds.set(param, token);
    this.tokens[param] = token as ParamToken;
  }

  private failBoth({ name }: AxisArray): never {
    return this.fail(
      `"${name}" is read and takes the result of a reduction`,
      "reduce into another array, or add to the old value: { accumulate: true }",
    );
  }

  private requireOwnAxes(param: string, { grid }: AxisArray): void {
    if (grid !== this.grid)
      this.fail(`the array "${param}" was made along an axis of another grid`, "make it by axis(...) of the container's grid");
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
