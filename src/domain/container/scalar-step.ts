import { originalPosition } from "#source-map";
import { derive } from "../../cache/derive.js";
import type { Launch } from "../../device/device.js";
import { range } from "../../device/launch/policy.js";
import type { KernelIR, Location } from "../../ir/types.js";
import { changedIn, walkExprs } from "../../ir/walk.js";
import type { Captures } from "../../kernel/declare/captures.js";
import { kernelFromIR } from "../../kernel/declare/from-ir.js";
import { lower, type LowerSource } from "../../kernel/lower/lower.js";
import type { AssignToken, Params } from "../../kernel/declare/params.js";
import { localOf } from "../../set/member.js";
import { Scalar } from "../../set/scalar.js";
import { AxisArray } from "../grid/axis-array.js";
import { Field, type Container, type Grid, type ScalarStepBody, type ScalarStepParam, type ScalarStepParams } from "../grid/grid.js";
import { asContainer, Declarations, requireArguments } from "./declare.js";

/*
 * Steps that compute on scalars alone: a kernel over one element on each member. They are containers without fields and cells to all that plans
 * and runs containers.
 */

/** See `Grid.scalarStep`. Throws ContainerError with the author's line. */
export function declareScalarStep(
  grid: Grid,
  name: string,
  params: ScalarStepParams,
  body: ScalarStepBody<ScalarStepParams>,
  calledAt: Location,
  captures?: Captures,
): Container {
  const location = originalPosition(calledAt);
  const usage = 'grid.scalarStep("name", { dt: assign(dt), limit }, ({ dt, limit }) => dt.set(0.5 / limit))';
  requireArguments(name, params, body, captures, location, usage);
  const declared = new StepDeclarations(grid, name, location);
  for (const [param, value] of Object.entries(params)) declared.addTo(param, value);
  const { tokens, assigned, values } = declared;
  declared.requireResult();
  const source: LowerSource = { name, params: tokens, policy: "once", body: body as LowerSource["body"], captures, location: calledAt };
  return asContainer(() => {
    const ir = lower(source, {});
    const read = loadedIn(ir);
    const scalars = new Map([...declared.scalars, ...[...assigned].filter(([param]) => read.has(param))]);
    return { name, grid, location, ir, uses: [], scalars, reductions: new Map(), values, assigned, stencil: false, reduces: false };
  });
}

/**
 * A scalar step that is made of code: a kernel over one element, to which each scalar is a view of one number.
 * @param of the scalars, by view parameter
 */
export function scalarStepFromIR(
  grid: Grid,
  ir: KernelIR,
  of: ReadonlyMap<string, Scalar>,
  location: Location,
  values: ReadonlyMap<string, number | bigint | boolean> = new Map(),
): Container {
  const [read, set] = [loadedIn(ir), changedIn(ir.body, "view")];
  const only = (names: ReadonlySet<string>): Map<string, Scalar> => new Map([...of].filter(([param]) => names.has(param)));
  const assigned = only(set);
  return {
    name: ir.name,
    grid,
    location,
    ir,
    uses: [],
    scalars: only(read),
    reductions: new Map(),
    values,
    assigned,
    stencil: false,
    reduces: false,
  };
}

/** Prepares the step on one member: strict, so that the members' copies of a scalar keep the same bits. */
export function prepareScalarStep({ grid, ir, location, scalars, assigned, values }: Container, member: number): Launch {
  // Steps on other scalars have the same code.
  const kernel = derive(ir, kernelFromIR, location);
  const views = [...scalars, ...assigned!].map(([param, scalar]) => [param, scalar.views[member]]);
  const args = { ...Object.fromEntries(values), ...Object.fromEntries(views) };
  return localOf(grid.set, member).device.prepare<Params>(kernel, args, range(1), { precision: "strict" });
}

function loadedIn(ir: KernelIR): ReadonlySet<string> {
  const views = new Set<string>();
  walkExprs(ir.body, (node) => {
    if (node.op === "load") views.add(node.view);
  });
  return views;
}

class StepDeclarations extends Declarations {
  readonly assigned = new Map<string, Scalar>();

  addTo(param: string, value: ScalarStepParam): void {
    const given: unknown = value;
    if (given instanceof Field || given instanceof AxisArray)
      this.fail(
        `the parameter "${param}" has values for cells, and a scalar step runs once`,
        "write grid.container, or reduce to a scalar",
      );
    const { kind, into } = (value ?? {}) as Partial<AssignToken<Scalar>>;
    if ((kind as string) === "reduce")
      this.fail(`the parameter "${param}" is a reduction, and a scalar step has nothing to reduce`, "write assign(scalar), and set it");
    if (kind !== "assign" || !(into instanceof Scalar)) return this.add(param, value as Scalar);
    if ([...this.assigned.values()].includes(into)) this.fail(`the scalar "${into.name}" is assigned twice`, "declare it once");
    if ([...this.scalars.values()].includes(into)) this.refuseBoth(into);
    this.assigned.set(param, into);
    this.tokens[param] = value as AssignToken<Scalar>;
  }

  override add(param: string, value: Scalar): void {
    if ([...this.assigned.values()].includes(value)) this.refuseBoth(value);
    super.add(param, value);
  }

  requireResult(): void {
    if (this.assigned.size === 0) this.fail("it sets nothing", "declare a scalar that takes a result: assign(scalar)");
  }

  private refuseBoth({ name }: Scalar): never {
    return this.fail(`the scalar "${name}" is given as a number and to be assigned`, "declare it once, and read it by get()");
  }
}
