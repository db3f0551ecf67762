import { KernelError } from "../../base/errors.js";
import { unreachable } from "../../base/unreachable.js";
import { analyseAccess, type Access } from "../analysis/access.js";
import { viewsToProve } from "../analysis/launch-races.js";
import { checkRaces, conflictOf, policyPin } from "../analysis/races.js";
import { forwardStores } from "../passes/forward-stores.js";
import { copyBody, FreshNames } from "../passes/copy.js";
import { optimise } from "../passes/optimise.js";
import { isFloat, valueType, type ScalarType } from "../scalars.js";
import type { Expr, KernelIR, Param, ReduceParam, Stmt } from "../types.js";
import { changedIn, walkExpr, walkExprs, walkStmts } from "../walk.js";
import { activeNamesOf, type ActiveNames } from "./activity.js";
import { extremeKernels } from "./extremes.js";
import type { KernelSource } from "./forward.js";
import { inPlaceOf, staleLoadIn, type InPlace } from "./in-place.js";
import { withoutJumps } from "./jumps.js";
import { barOf, dotName, tiesName, extremeName } from "./names.js";
import { Refusals } from "./refusals.js";

/** Kernels that compute derivatives of one kernel, in the order in which they are launched. */
export interface DerivativeCode {
  readonly kernels: readonly KernelIR[];
  /** Views of the kernel whose values from before its launch are read. */
  readonly needs: readonly string[];
  /** Places where gradients end, and how contributions are added, a line each. */
  readonly remarks: readonly string[];
}

/** Type of a parameter's numbers. */
export function typeOfParam(param: Param): ScalarType {
  switch (param.kind) {
    case "view":
    case "scatter":
      return valueType(param.element);
    case "scalar":
    case "reduce":
      return param.type;
    default:
      return unreachable(param);
  }
}

/** A kernel to be differentiated, in the form that derivatives are made of. */
export class GradientSubject {
  readonly refusals: Refusals;
  /** Without jumps, and without loads of what the same element has just stored. */
  readonly ir: KernelIR;
  readonly params: ReadonlyMap<string, Param>;
  private readonly inPlace: InPlace;

  constructor(
    readonly original: KernelIR,
    readonly wrt: readonly string[],
    /** Nothing that the kernel stores passes a gradient on. */
    private readonly isConstant = false,
  ) {
    this.refusals = new Refusals(original.name, original.location);
    if (original.policy.kind === "team") this.refusals.team();
    this.params = new Map(original.params.map((param) => [param.name, param]));
    this.ir = forwardStores({ ...original, body: withoutJumps(original.body, new FreshNames(original)) });
    this.inPlace = inPlaceOf(this.ir);
    for (const name of wrt) this.requireName(name);
  }

  private requireName(name: string): void {
    const param = this.params.get(name);
    if (!param || param.kind === "reduce") this.refusals.unknown(name, differentiable(this.original));
    if (!isFloat(typeOfParam(param)))
      this.refusals.integers(name, param.kind === "scalar" ? param.type : (param as { element: string }).element);
    if (!hasEffect(this.original, name)) this.refusals.noEffect(name);
  }

  /** Refuses parameters that have the name of a derivative. */
  requireFreeNames(active: ActiveNames, suffixed: (name: string) => string, what: string): void {
    for (const name of [...active.views, ...active.scalars, ...active.targets])
      if (this.params.has(suffixed(name))) this.refusals.taken(suffixed(name), name, what);
  }

  /** The body for the sweeps; with `goesBack` it runs without the kernel's stores. */
  body(goesBack: boolean): Stmt[] {
    return goesBack ? this.inPlace.body : this.ir.body;
  }

  activity(goesBack: boolean): ActiveNames {
    if (this.isConstant) return { ...NOTHING, views: this.storedFloats() };
    const viewOf = (name: string): string => this.inPlace.stale.get(name)?.view ?? name;
    return activeNamesOf({ ...this.ir, body: this.body(goesBack) }, this.wrt, viewOf);
  }

  private storedFloats(): Set<string> {
    const floats = [...changedIn(this.ir.body, "view")].filter((name) => isFloat(typeOfParam(this.params.get(name)!)));
    return new Set(floats);
  }

  /** Facts about the kernel for an emission. */
  source(active: ActiveNames, goesBack: boolean): KernelSource {
    const body = this.body(goesBack);
    const names = new FreshNames({ ...this.original, body: [] });
    for (const name of this.params.keys()) for (const suffixed of [barOf, dotName, extremeName, tiesName]) names.fresh(suffixed(name));
    const arrays = new Map<string, Extract<Stmt, { kind: "array" }>>();
    const order = new Map<Stmt, number>();
    const lastSet = new Map<string, number>();
    walkStmts(body, (stmt) => {
      order.set(stmt, order.size);
      if (stmt.kind === "array") arrays.set(stmt.name, stmt);
      if (stmt.kind === "array" && !lastSet.has(stmt.name)) lastSet.set(stmt.name, -1);
      if (stmt.kind === "setElement") lastSet.set(stmt.array, order.get(stmt)!);
    });
    return {
      names,
      location: this.original.location,
      active,
      isConstant: this.isConstant,
      written: changedIn(body, "view"),
      stale: goesBack ? this.inPlace.stale : new Map(),
      params: this.params,
      arrays,
      lastSet,
      order,
      repeated: goesBack ? this.inPlace.repeated : new Set(),
    };
  }

  /** Loads and stores by view. */
  accesses(): ReadonlyMap<string, readonly Access[]> {
    const byView = new Map<string, Access[]>();
    for (const access of analyseAccess(this.ir).accesses) byView.set(access.view, [...(byView.get(access.view) ?? []), access]);
    return byView;
  }

  /** Whether each element of the range has places of its own among these: no two elements would meet if all of them wrote. */
  areOwn(touched: readonly Access[]): boolean {
    const accesses = touched.map((access): Access => ({ ...access, kind: "write" }));
    const axes = this.ir.policy.kind === "range" ? this.ir.policy.rank : 0;
    if (accesses.length === 0) return true;
    return Array.from({ length: axes }, (_, axis) => axis).every((axis) => conflictOf(accesses, policyPin(axis)) === undefined);
  }

  /** The kernels that find least and greatest values that gradients pass through, and count who has them. */
  extremes(active: ActiveNames): KernelIR[] {
    const isExtreme = (param: Param): param is ReduceParam => param.kind === "reduce" && (param.op === "min" || param.op === "max");
    const reductions = this.original.params.filter(isExtreme).filter(({ name, type }) => active.targets.has(name) && isFloat(type));
    if (reductions.length === 0) return [];
    const atomic = this.original.params.find((param) => param.kind === "view" && param.atomic);
    if (atomic) this.refusals.atomic(atomic.name);
    // A local may have the name of a parameter that these kernels get.
    const names = new FreshNames({ ...this.original, body: this.inPlace.body });
    for (const { name } of reductions) for (const suffixed of [extremeName, tiesName]) names.fresh(suffixed(name));
    const body = copyBody(this.inPlace.body, "of", names, (node) => node);
    const { values, ties } = extremeKernels(this.ir, body, reductions);
    for (const name of this.inPlace.repeated)
      walkExprs(values.body, (node, { location }) => {
        if (node.op === "load" && node.view === name) this.refusals.stale({ view: name, text: name, location });
      });
    return [values, ties].map((kernel) => this.finished(kernel));
  }

  /** The kernel without parameters that it does not use, optimised and checked. */
  finished(kernel: KernelIR): KernelIR {
    const stale = staleLoadIn(kernel.body, this.inPlace.stale);
    if (stale) this.refusals.stale(stale);
    const made = optimise({ ...kernel, params: usedParams(kernel) });
    const access = analyseAccess(made);
    try {
      checkRaces(made, access, viewsToProve(made, access));
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
      this.refusals.shared([...changedIn(this.ir.body, "view")].join(", "), error.problem);
    }
    return made;
  }

  /** Views of the kernel whose values some of the derivatives' kernels read. */
  needs(kernels: readonly KernelIR[]): string[] {
    const read = new Set<string>();
    for (const { body } of kernels) walkExprs(body, (node) => node.op === "load" && read.add(node.view));
    return [...this.params.keys()].filter((name) => read.has(name));
  }
}

const NOTHING: ActiveNames = { views: new Set(), scalars: new Set(), arrays: new Set(), locals: new Set(), targets: new Set() };

/** Parameters that the code uses, in bounds of others as well. */
function usedParams({ params, body }: KernelIR): Param[] {
  const used = new Set<string>();
  const use = (expr: Expr): void =>
    walkExpr(expr, (node) => {
      if (node.op === "load" || node.op === "extent") used.add(node.view);
      if (node.op === "param") used.add(node.name);
    });
  walkStmts(body, (stmt) => {
    if (stmt.kind === "store") used.add(stmt.view);
    if (stmt.kind === "scatter" || stmt.kind === "atomic" || stmt.kind === "reduce") used.add(stmt.target);
    if (stmt.kind === "reduceJointly") stmt.targets.forEach((name) => used.add(name));
  });
  walkExprs(body, use);
  for (let before = -1; before !== used.size;) {
    before = used.size;
    for (const param of params)
      if (param.kind === "view" && used.has(param.name))
        for (const { lower, upper } of param.bounds ?? []) for (const bound of [lower, upper]) if (bound) use(bound);
  }
  // Results are given even where nothing is folded into them.
  return params.filter(({ name, kind }) => kind === "reduce" || used.has(name));
}

/** Whether something that the kernel stores depends on a parameter. */
function hasEffect(ir: KernelIR, name: string): boolean {
  const param = ir.params.find((each) => each.name === name)!;
  if (param.kind === "scatter") return true;
  const stored = changedIn(ir.body, "view");
  if (stored.has(name)) return true;
  const { views, targets } = activeNamesOf(ir, [name], (view) => view);
  return targets.size > 0 || [...views].some((view) => stored.has(view));
}

/** Views, scatter targets and scalars of floats on which something depends that the kernel stores. */
export function differentiable(ir: KernelIR): string[] {
  const floats = ir.params.filter((param) => param.kind !== "reduce" && isFloat(typeOfParam(param)));
  return floats.map(({ name }) => name).filter((name) => hasEffect(ir, name));
}
