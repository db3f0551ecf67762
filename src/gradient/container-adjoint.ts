import { GradientError } from "../base/errors.js";
import { containerFromIR } from "../domain/container/from-ir.js";
import { scalarStepFromIR } from "../domain/container/scalar-step.js";
import { isAny } from "../domain/grid/ghosts.js";
import { resultsOf, type Container, type Field } from "../domain/grid/grid.js";
import { activeNamesOf } from "../ir/gradient/activity.js";
import { adjointOf, differentiable } from "../ir/gradient/adjoint.js";
import { barOf } from "../ir/gradient/names.js";
import { add, constant, index, int } from "../ir/expressions.js";
import { isFloat, valueType, type FloatType } from "../ir/scalars.js";
import type { Expr, KernelIR, Param } from "../ir/types.js";
import { walkExprs } from "../ir/walk.js";
import type { Scalar } from "../set/index.js";
import { contributionsAsParts, paramsAsScalars, pullParts, scalarsAsParams, stepAsKernel } from "./container-code.js";

/** Data of a sequence that gradients pass through. */
export type Data = Field | Scalar;

/** Data that the adjoints of containers use: adjoints of data, values of before, and memory of their own. */
export interface AdjointData {
  bar(of: Field): Field;
  scalarBar(of: Scalar): Scalar;
  /** Place of the values that the container found. */
  valueOf<T extends Data>(of: T): T;
  /** A field for contributions, which the next container may use again. */
  parts(like: Field, count: number, place: number): Field;
  /** A scalar of its own. */
  scratch(like: Scalar, name: string): Scalar;
}

const isStep = ({ assigned }: Container): boolean => assigned !== undefined;

/** A container's data, by parameter. */
function dataOf({ uses, scalars, reductions, assigned }: Container): Map<string, Data> {
  const fields = uses.map(({ param, field }) => [param, field] as const);
  return new Map<string, Data>([...fields, ...scalars, ...reductions, ...(assigned ?? [])]);
}

const isFloating = (data: Data): boolean => isFloat(valueType(data.type));

/** The code as gradients take it: scalars are parameters; a scalar step is a kernel over one element. */
function codeOf(container: Container): KernelIR {
  if (!isStep(container)) return scalarsAsParams(container.ir, new Set(container.scalars.keys()));
  return stepAsKernel(container.ir, new Set([...container.scalars.keys(), ...container.assigned!.keys()]));
}

/** Data to which the container passes on what is active; `active` is completed. */
export function spreadActivity(container: Container, active: Set<Data>): void {
  const data = dataOf(container);
  const wrt = [...data].filter(([, of]) => active.has(of) && isFloating(of)).map(([param]) => param);
  if (wrt.length === 0) return;
  refuseUnknown(container, active);
  const { views, targets } = activeNamesOf(codeOf(container), wrt, (view) => view);
  for (const name of [...views, ...targets]) {
    const of = data.get(name);
    if (of && isFloating(of)) active.add(of);
  }
}

/** The derivative of one container: code, and the values that it needs. */
export interface ContainerDerivative {
  readonly container: Container;
  readonly kernels: readonly KernelIR[];
  /** Fields and scalars whose values from before the container are read. */
  readonly needs: ReadonlySet<Data>;
  readonly remarks: readonly string[];
}

/** The derivative by what is active; undefined where the container neither reads nor writes any of it. Throws GradientError. */
export function containerDerivative(container: Container, active: ReadonlySet<Data>): ContainerDerivative | undefined {
  const data = dataOf(container);
  if (![...data.values()].some((of) => active.has(of))) return undefined;
  refuseUnknown(container, active);
  const ir = codeOf(container);
  const known = new Set(differentiable(ir));
  const wrt = [...data].filter(([param, of]) => known.has(param) && active.has(of)).map(([param]) => param);
  if (wrt.length === 0) {
    // Nothing active is read, but what has reached its results ends here.
    const ends = [...container.reductions.values()].some((of) => active.has(of));
    return ends ? { container, kernels: [], needs: new Set(), remarks: [] } : undefined;
  }
  const { kernels, needs, remarks } = adjointOf(ir, {
    wrt,
    scattered: new Set(container.uses.filter(({ offsets }) => offsets.length > 0).map(({ param }) => param)),
  });
  const read = new Set(needs);
  for (const { body } of kernels) walkExprs(body, (node) => node.op === "param" && read.add(node.name));
  const values = [...data].filter(([param]) => read.has(param)).map(([, of]) => of);
  return {
    container,
    kernels,
    needs: new Set(values),
    remarks: remarks.filter((line) => line.startsWith("gradient ends")).map((line) => `container "${container.name}": ${line}`),
  };
}

/** Refuses what the gradient of containers does not know. */
function refuseUnknown(container: Container, active: ReadonlySet<Data>): void {
  const { name, location, grid, uses, axisFolds, inRounds, particles, arrays } = container;
  const refuse = (problem: string, remedy: string): never => {
    throw new GradientError(name, location, problem, remedy);
  };
  if (particles || arrays) refuse("it runs over particles, and gradients of these are not known", "leave what depends on them out of wrt");
  if (axisFolds) refuse("it reduces along axes, and gradients of that are not known", "reduce into scalars");
  if (inRounds) refuse("it moves cells by messages of its own, and gradients of that are not known", "write it as a stencil");
  if (isAny(grid.ghosts))
    refuse("its grid has ghosts, and gradients over these are not known", "use a grid without ghosts, with fill values or periodic axes");
  for (const { field, level, spread, written, offsets } of uses) {
    if (!active.has(field)) continue;
    if (written && offsets.length > 0)
      refuse(
        `it reads "${field.name}" of other cells and writes it, and gradients of that are not known`,
        "write to another field and swap the two",
      );
    if (level !== "own")
      refuse(
        `it reads "${field.name}" of a ${level === "fine" ? "finer" : "coarser"} grid, and gradients across grids are not known`,
        "keep the fields on one grid",
      );
    if (spread)
      refuse(`it writes "${field.name}" in other cells, and gradients of that are not known`, "let each cell write its own values");
    if (field.type !== "f64" && field.type !== "f32")
      refuse(`"${field.name}" stores ${field.type}, and gradients are of f64 and f32`, "give the field this type");
  }
}

/** The containers of a derivative, in order. Throws ContainerError for code that containers do not allow. */
export function adjointContainers({ container, kernels }: ContainerDerivative, data: AdjointData): Container[] {
  return isStep(container) ? kernels.map((ir) => stepBack(container, ir, data)) : new AdjointOfCells(container, data).of(kernels);
}

function stepBack(container: Container, ir: KernelIR, data: AdjointData): Container {
  const scalars = dataOf(container) as Map<string, Scalar>;
  const all = new Map<string, Scalar>();
  for (const [param, of] of scalars) all.set(param, data.valueOf(of)).set(barOf(param), data.scalarBar(of));
  const added = ir.params.find(({ kind }) => kind !== "view" && kind !== "scalar");
  if (added) throw new Error(`the adjoint of scalar step "${container.name}" has a parameter ${added.name} of kind ${added.kind}`);
  return scalarStepFromIR(container.grid, { ...ir, name: `${container.name} adjoint` }, all, container.location, container.values);
}

/** Containers for the adjoint of one over cells. */
class AdjointOfCells {
  private readonly data: Map<string, Data>;
  private readonly made: Container[] = [];
  /** Scalars that one of the containers gives to later ones. */
  private readonly passed = new Map<string, Scalar>();

  constructor(
    private readonly container: Container,
    private readonly adjoint: AdjointData,
  ) {
    this.data = dataOf(container);
  }

  of(kernels: readonly KernelIR[]): Container[] {
    for (const [n, ir] of kernels.entries()) this.add(ir, n === kernels.length - 1);
    // Results exist from this container on: nothing before it reaches them.
    for (const scalar of this.container.reductions.values())
      if (isFloating(scalar)) this.made.push(this.cleared(this.adjoint.scalarBar(scalar)));
    return this.made;
  }

  private add(ir: KernelIR, isLast: boolean): void {
    const { container, adjoint } = this;
    const { grid, location, box, values, axisArrays } = container;
    const name = (what: string): string => `${container.name} ${what}`;
    const fieldOf = (bar: string): Field => this.data.get(bar.replace(/_bar$/, "")) as Field;
    const partsName = (bar: string): string => `${bar}_parts`;
    const { ir: code, sites } = contributionsAsParts(ir, (bar) => fieldOf(bar).cardinality, partsName);
    const parts = new Map([...sites].map(([bar, list], n) => [bar, adjoint.parts(fieldOf(bar), list.length, n)]));
    // Cells outside of the box contribute nothing.
    if (box) for (const field of parts.values()) this.made.push(zeroed(container, field));
    const fields = new Map([...parts].map(([bar, field]) => [partsName(bar), field]));
    const scalars = new Map<string, Scalar>();
    const reductions = new Map<string, Scalar>();
    const toScalar = new Set<string>();
    for (const param of code.params) this.bind(param, { fields, scalars, reductions, toScalar });
    const plain = { ...paramsAsScalars(code, toScalar), name: name(isLast ? "adjoint" : "extremes") };
    const own = new Map([...values].filter(([param]) => code.params.some((each) => each.name === param)));
    const arrays = new Map([...(axisArrays ?? [])].filter(([param]) => code.params.some((each) => each.name === param)));
    this.made.push(containerFromIR(grid, plain, { fields, scalars, reductions, values: own, axisArrays: arrays }, location, box));
    for (const [bar, list] of sites) {
      const field = parts.get(bar)!;
      const pulled = new Map([
        ["parts", field],
        ["bar", adjoint.bar(fieldOf(bar))],
      ]);
      const pull = pullParts(name(`sums of ${bar}`), container.ir, field.type as FloatType, list);
      this.made.push(containerFromIR(grid, pull, { fields: pulled }, location));
    }
    for (const [param, scalar] of reductions)
      if (param.endsWith("_bar")) this.made.push(this.added(scalar, adjoint.scalarBar(this.data.get(param.slice(0, -4)) as Scalar)));
  }

  /** Finds what a parameter of the code stands for. */
  private bind(
    { name, kind }: Param,
    to: { fields: Map<string, Field>; scalars: Map<string, Scalar>; reductions: Map<string, Scalar>; toScalar: Set<string> },
  ): void {
    const { adjoint, container } = this;
    const of = this.data.get(name);
    const barred = name.endsWith("_bar") ? this.data.get(name.slice(0, -4)) : undefined;
    if (to.fields.has(name) || container.values.has(name) || container.axisArrays?.has(name) || name === container.mask?.param) return;
    if (kind === "reduce") {
      const like = (barred ?? this.data.get(name.replace(/_(value|ties)$/, ""))) as Scalar;
      const scratch = adjoint.scratch(like, name);
      to.reductions.set(name, scratch);
      if (!barred) this.passed.set(name, scratch);
    } else if (this.passed.has(name)) to.scalars.set(name, this.passed.get(name)!);
    else if (of && isField(of)) to.fields.set(name, adjoint.valueOf(of));
    else if (of) {
      to.scalars.set(name, adjoint.valueOf(of) as Scalar);
      to.toScalar.add(name);
    } else if (barred && isField(barred)) to.fields.set(name, adjoint.bar(barred));
    else if (barred) {
      to.scalars.set(name, adjoint.scalarBar(barred as Scalar));
      to.toScalar.add(name);
    }
  }

  /** A step that adds one scalar to another. */
  private added(part: Scalar, bar: Scalar): Container {
    const load = (view: string): Expr => ({ op: "load", type: bar.type, view, indices: [index(0)] });
    return this.step(
      "sums of scalars",
      new Map([
        ["part", part],
        ["bar", bar],
      ]),
      add(load("bar") as ReturnType<typeof int>, load("part")),
    );
  }

  private cleared(bar: Scalar): Container {
    return this.step("seeds", new Map([["bar", bar]]), constant(bar.type, 0));
  }

  /** A step that sets `bar`. */
  private step(what: string, scalars: ReadonlyMap<string, Scalar>, value: Expr): Container {
    const { name, grid, location } = this.container;
    const params = [...scalars].map(([param, { type }]): Param => ({ kind: "view", name: param, element: type, rank: 1, disjoint: false }));
    const body: KernelIR["body"] = [{ kind: "store", view: "bar", indices: [index(0)], value, location }];
    const ir: KernelIR = { name: `${name} ${what}`, policy: { kind: "range", rank: 1 }, params, tables: [], body, location };
    return scalarStepFromIR(grid, ir, scalars, location);
  }
}

const isField = (data: Data): data is Field => "cardinality" in data;

/** A container that sets all components of all cells to 0. */
function zeroed(like: Container, field: Field): Container {
  return everywhere(like, `${like.name} without contributions`, new Map([["to", field]]), () => constant(valueType(field.type), 0));
}

/** A container that copies a field. */
export const copied = (like: Container, from: Field, to: Field): Container =>
  everywhere(
    like,
    `values of ${from.name}`,
    new Map([
      ["from", from],
      ["to", to],
    ]),
    (indices) => ({ op: "load", type: valueType(from.type), view: "from", indices }),
  );

/** A scalar step that copies a scalar. */
export function copiedScalar({ grid, location }: Container, from: Scalar, to: Scalar): Container {
  const param = (name: string): Param => ({ kind: "view", name, element: from.type, rank: 1, disjoint: false });
  const value: Expr = { op: "load", type: from.type, view: "from", indices: [index(0)] };
  const body: KernelIR["body"] = [{ kind: "store", view: "to", indices: [index(0)], value, location }];
  const ir: KernelIR = {
    name: `value of ${from.name}`,
    policy: { kind: "range", rank: 1 },
    params: [param("from"), param("to")],
    tables: [],
    body,
    location,
  };
  return scalarStepFromIR(
    grid,
    ir,
    new Map([
      ["from", from],
      ["to", to],
    ]),
    location,
  );
}

function everywhere(
  { grid, location }: Container,
  name: string,
  fields: ReadonlyMap<string, Field>,
  value: (indices: Expr[]) => Expr,
): Container {
  const axes = grid.dimension;
  const own = Array.from({ length: axes }, (_, axis) => index(axis));
  const to = fields.get("to")!;
  const params = [...fields].map(([param, { type }]): Param => ({
    kind: "view",
    name: param,
    element: type,
    rank: axes + 1,
    disjoint: false,
  }));
  const body = Array.from({ length: to.cardinality }, (_, k) => {
    const indices: Expr[] = [...own, int(k)];
    return { kind: "store" as const, view: "to", indices, value: value(indices), location };
  });
  return containerFromIR(grid, { name, policy: { kind: "range", rank: axes }, params, tables: [], body, location }, { fields }, location);
}

/** Fields and scalars to which a container gives values. */
export const writtenData = (container: Container): Data[] => [
  ...container.uses.filter(({ written }) => written).map(({ field }) => field),
  ...resultsOf(container),
];
