import { own } from "../../base/own.js";
import type { Bound, DataLoop, DataSet, Designator, Expr } from "../tree/index.js";
import type { UnitScope, Variable } from "./scope.js";
import { bindingsOf } from "./visible.js";

/* Values that `data` statements give, as if they stood in the declarations. */

/** Lists are written out. */
const MOST = 4096;

/** Something that no declaration could say. */
class Unclear extends Error {}

/** Gives variables the values of a unit's `data` statements. Variables whose values cannot be told are refused. */
export function declareData(scope: UnitScope, isConstant: (name: string) => boolean): void {
  const given = new Map<string, Map<number, Expr>>();
  const unclear = new Set<string>();
  for (const declaration of scope.unit.declarations)
    if (declaration.kind === "other" && declaration.data)
      for (const set of declaration.data) {
        const names = new Set<string>();
        try {
          setOf(scope, set, given, names);
        } catch (error) {
          if (!(error instanceof Unclear)) throw error;
          for (const name of names) unclear.add(name);
        }
      }
  for (const [name, values] of given) {
    const variable = scope.variables.get(name)!;
    if (!unclear.has(name)) scope.variables.set(name, withValues(scope, variable, values, isConstant(name)));
  }
  for (const name of unclear) {
    const variable = scope.variables.get(name);
    const refused = {
      construct: `data :: ${name}`,
      why: "its values cannot be told from its `data` statement",
      remedy: "give the values in the declaration",
    };
    if (variable) scope.variables.set(name, { ...variable, refused });
  }
}

function withValues(scope: UnitScope, variable: Variable, values: ReadonlyMap<number, Expr>, isConstant: boolean): Variable {
  const value = variable.dims ? listOf(scope, variable, values) : values.get(0)!;
  // Elements without a value are undefined, and something assigns them, if they are read.
  return { ...variable, ...(isConstant ? { value } : { initial: value }) };
}

function listOf(scope: UnitScope, { dims, type, at }: Variable, values: ReadonlyMap<number, Expr>): Expr {
  const none: Expr = type === "bool" ? { kind: "literal", type: "logical", text: ".false.", at } : whole(0, at);
  const extents = dims!.map((dim) => extentOf(scope, dim));
  const items = Array.from({ length: extents.reduce((a, b) => a * b, 1) }, (_, n) => values.get(n) ?? none);
  const list: Expr = { kind: "constructor", items, at };
  if (extents.length === 1) return list;
  const shape: Expr = { kind: "constructor", items: extents.map((extent) => whole(extent, at)), at };
  const args = [list, shape].map((value) => ({ kind: "value", value }) as const);
  return { kind: "apply", base: { kind: "name", name: "reshape", at }, args, at };
}

const whole = (n: number, at: Expr["at"]): Expr => ({ kind: "literal", type: "integer", text: String(n), at });

/** Adds the values of one set. @throws Unclear */
function setOf(scope: UnitScope, { objects, values }: DataSet, given: Map<string, Map<number, Expr>>, names: Set<string>): void {
  for (const object of objects) addNames(object, names);
  const list = values.flatMap(({ count, value }) => {
    const times = count ? integerOf(scope, count, new Map()) : 1;
    if (times < 0 || times > MOST) throw new Unclear();
    return Array.from({ length: times }, () => value);
  });
  let next = 0;
  const add = (name: string, place: number): void => {
    if (next >= list.length || next > MOST) throw new Unclear();
    given.set(name, (given.get(name) ?? new Map<number, Expr>()).set(place, list[next++]));
  };
  const give: Give = Object.assign(add, { turns: MOST });
  for (const object of objects) elements(scope, object, new Map(), give);
  if (next !== list.length) throw new Unclear();
}

function addNames(object: Designator | DataLoop, names: Set<string>): void {
  if (object.kind === "data-loop") for (const item of object.items) addNames(item, names);
  else {
    let at: Expr = object;
    while (at.kind === "apply" || at.kind === "part") at = at.base;
    if (at.kind === "name") names.add(at.name);
  }
}

interface Give {
  (name: string, place: number): void;
  /** Turns of loops that are left. */
  turns: number;
}

/** Goes over the elements of an object, in order. @throws Unclear */
function elements(scope: UnitScope, object: Designator | DataLoop, env: ReadonlyMap<string, number>, give: Give): void {
  if (object.kind === "data-loop") {
    const [start, stop, step] = [object.start, object.stop, object.step].map((e) => (e ? integerOf(scope, e, env) : 1));
    if (step === 0 || Math.abs((stop - start) / step) > MOST) throw new Unclear();
    for (let n = start; step > 0 ? n <= stop : n >= stop; n += step) {
      if (give.turns-- <= 0) throw new Unclear();
      for (const item of object.items) elements(scope, item, new Map(env).set(object.variable, n), give);
    }
    return;
  }
  const base = object.kind === "apply" ? object.base : object;
  const variable = base.kind === "name" ? scope.variables.get(base.name) : undefined;
  if (!variable || variable.derived || variable.dummy) throw new Unclear();
  const extents = (variable.dims ?? []).map((dim) => extentOf(scope, dim));
  const size = extents.reduce((a, b) => a * b, 1);
  if (size > MOST) throw new Unclear();
  if (object.kind !== "apply") {
    for (let place = 0; place < size; place++) give(variable.name, place);
    return;
  }
  if (object.args.length !== extents.length) throw new Unclear();
  let [place, stride] = [0, 1];
  object.args.forEach((arg, axis) => {
    if (arg.kind !== "value") throw new Unclear();
    const { lower } = variable.dims![axis];
    const at = integerOf(scope, arg.value, env) - (lower ? integerOf(scope, lower, env) : 1);
    if (at < 0 || at >= extents[axis]) throw new Unclear();
    place += at * stride;
    stride *= extents[axis];
  });
  give(variable.name, place);
}

function extentOf(scope: UnitScope, { lower, upper }: Bound): number {
  if (!upper || upper === "*") throw new Unclear();
  return Math.max(0, integerOf(scope, upper, new Map()) - (lower ? integerOf(scope, lower, new Map()) : 1) + 1);
}

/** The bounds as literals; undefined if they are not constants. */
export function constantBounds(scope: UnitScope, dims: readonly Bound[]): Bound[] | undefined {
  try {
    return dims.map(({ lower, upper, assumed }) => {
      if (!upper || upper === "*") throw new Unclear();
      const number = (e: Expr): Expr => literalOf(integerOf(scope, e, new Map()), e.at);
      return { ...(lower && { lower: number(lower) }), upper: number(upper), assumed };
    });
  } catch (error) {
    if (error instanceof Unclear) return undefined;
    throw error;
  }
}

const literalOf = (n: number, at: Expr["at"]): Expr => (n < 0 ? { kind: "unary", op: "-", a: whole(-n, at), at } : whole(n, at));

const COMPUTE: Partial<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => (b === 0 ? NaN : Math.trunc(a / b)),
};

/** A constant integer. @throws Unclear */
function integerOf(scope: UnitScope, e: Expr, env: ReadonlyMap<string, number>): number {
  const found = computed(scope, e, env);
  if (!Number.isSafeInteger(found)) throw new Unclear();
  return found;
}

function computed(scope: UnitScope, e: Expr, env: ReadonlyMap<string, number>): number {
  switch (e.kind) {
    case "literal":
      return e.type === "integer" ? Number(e.text) : NaN;
    case "group":
      return computed(scope, e.a, env);
    case "unary":
      return (e.op === "-" ? -1 : 1) * computed(scope, e.a, env);
    case "binary":
      return own(COMPUTE, e.op)?.(computed(scope, e.a, env), computed(scope, e.b, env)) ?? NaN;
    case "name": {
      const known = env.get(e.name);
      const [binding, other] = known === undefined ? bindingsOf(scope, e.name) : [];
      const constant = other ? undefined : binding?.scope?.variables.get(binding.name);
      return known ?? (constant?.value && constant.attributes.has("parameter") ? computed(constant.scope, constant.value, new Map()) : NaN);
    }
    // Any other expression is not a constant integer.
    default:
      return NaN;
  }
}
