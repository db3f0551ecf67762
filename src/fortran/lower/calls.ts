import { structure } from "../../ir/structure.js";
import type { Location, Stmt } from "../../ir/types.js";
import { find, findNamed, nestedComponents, namedVariable, type UnitScope, type Variable } from "../analyse/symbols.js";
import { namesIn, variableName } from "../analyse/walk.js";
import { writesOf, writtenBy } from "../analyse/writes.js";
import type { ActualArgument, Expr as Tree, Name, ComponentRef, Procedure } from "../tree/index.js";
import { associated, declaredShape, elementPlace } from "./arrays.js";
import { componentOfObject } from "../analyse/object-designators.js";
import { designated, extentsOfExpr, value, valueAs } from "./expressions.js";
import { variableIn, type ProcedureFrame, type FortranLowering, type Meaning } from "./lowering.js";
import { declareLocals } from "./locals.js";
import { converted, treeName, Unlowerable } from "./values.js";
import { narrowed } from "./wide.js";

/* Procedures that are called in kernels: their statements take the place of the call. */

export function inlineProcedure(
  cx: FortranLowering,
  frame: ProcedureFrame,
  scope: UnitScope,
  args: readonly ActualArgument[],
  at: Location,
): Meaning | undefined {
  const { unit } = scope;
  if (unit.kind !== "procedure") throw new Unlowerable(at, unit.name, "it is not a procedure");
  if (cx.stack.includes(scope)) throw new Unlowerable(at, unit.name, "it calls itself", "write a loop: kernels have no recursion");
  if (unit.attributes.includes("global")) throw new Unlowerable(at, unit.name, "a kernel calls a kernel", "make it attributes(device)");
  const objects = new Map<string, ReturnType<typeof objectArgument>>();
  const inner: ProcedureFrame = { scope, meanings: new Map(), loops: [], body: unit.body, isCalled: true, objects };
  const written = writtenBy(scope);
  const assigned = writesOf(scope, unit.body);
  cx.stack.push(scope);
  const { location } = cx;
  try {
    const after: (() => void)[] = [];
    const given = matched(unit, args, at);
    // Bounds of arrays may name any scalar.
    for (const arrays of [false, true])
      for (const dummy of unit.dummies) {
        const variable = find(scope, dummy);
        if (!variable) throw new Unlowerable(unit.at, dummy, "a dummy argument without a declaration", "declare its type");
        if ((variable.dims !== undefined) !== arrays) continue;
        const actual = given.get(dummy);
        if (!actual || isAbsent(frame, actual, variable)) {
          if (variable.attributes.has("optional")) continue;
          throw new Unlowerable(at, unit.name, `its argument ${dummy} is missing`);
        }
        const { refused } = variable.byte ? narrowed(variable) : variable;
        if (variable.derived) {
          if (isInArray(frame, variable, actual)) componentArguments(cx, frame, inner, variable, actual, after);
          else objects.set(dummy, objectArgument(frame, scope, variable, actual));
          continue;
        }
        if (refused) throw new Unlowerable(variable.at, refused.construct, refused.why, refused.remedy);
        inner.meanings.set(
          dummy,
          arrays
            ? arrayArgument(cx, frame, inner, variable, actual)
            : scalarArgument(cx, frame, variable, actual, (variable.attributes.has("value") ? assigned : written).has(dummy), after),
        );
      }
    const result = unit.form === "function" ? (unit.result ?? unit.name) : undefined;
    declareLocals(cx, inner, (name) => !unit.dummies.includes(name));
    if (result !== undefined && !inner.meanings.has(result))
      throw new Unlowerable(unit.at, unit.name, "the function's result has no type", "declare it");
    const body = cx.collect(() => cx.parts.statements(cx, unit.body, inner));
    for (const stmt of structure(body, (wish) => cx.unique(wish), at)) cx.push(stmt);
    cx.location = location;
    after.forEach((copy) => copy());
    return result === undefined ? undefined : inner.meanings.get(result);
  } finally {
    cx.stack.pop();
    cx.location = location;
  }
}

/** Whether an optional argument is handed on that is absent. */
function isAbsent(frame: ProcedureFrame, actual: Tree, dummy: Variable): boolean {
  if (actual.kind !== "name" || !find(frame.scope, actual.name)?.attributes.has("optional")) return false;
  if (frame.isCalled) return !frame.meanings.has(actual.name) && !frame.objects?.has(actual.name);
  if (!dummy.attributes.has("optional")) return false;
  throw new Unlowerable(
    actual.at,
    actual.name,
    "an optional argument that may be absent is passed on",
    "branch on present() around the loop",
  );
}

/** Arguments by the names of their dummies. @throws Unlowerable */
export function matched(unit: Procedure, args: readonly ActualArgument[], at: Location): Map<string, Tree> {
  const given = new Map<string, Tree>();
  args.forEach((arg, n) => {
    const name = (arg.kind === "value" ? arg.keyword : undefined) ?? unit.dummies[n];
    if (name === undefined || !unit.dummies.includes(name))
      throw new Unlowerable(at, unit.name, `it is called with ${args.length} arguments, and takes ${unit.dummies.length}`);
    if (arg.kind !== "value") throw new Unlowerable(at, unit.name, "an argument is a range; pass a value or an array");
    given.set(name, arg.value);
  });
  return given;
}

function scalarArgument(
  cx: FortranLowering,
  frame: ProcedureFrame,
  dummy: Variable,
  actual: Tree,
  written: boolean,
  after: (() => void)[],
): Meaning {
  if (extentsOfExpr(cx, frame, actual))
    throw new Unlowerable(actual.at, treeName(actual), `an array is given for the scalar ${dummy.name}`);
  const { type, name } = dummy;
  if (!written || dummy.attributes.has("value")) {
    const meaning =
      actual.kind === "name" && !dummy.attributes.has("value") && !find(frame.scope, actual.name)?.value
        ? cx.meaning(frame, actual)
        : undefined;
    if (meaning?.kind === "local" && meaning.type === type) return meaning;
    const init = valueAs(cx, frame, type, actual);
    return written ? cx.local(name, type, init) : { kind: "value", expr: cx.stable(init, name) };
  }
  if (actual.kind === "name") {
    const meaning = cx.meaning(frame, actual);
    if (meaning.kind === "local") {
      if (meaning.type !== type)
        throw new Unlowerable(actual.at, actual.name, `it is ${meaning.type}, and the argument ${name} is ${type}`, "make the kinds equal");
      return meaning;
    }
  }
  const found = designated(cx, frame, actual);
  if (!found || !("cell" in found))
    throw new Unlowerable(
      actual.at,
      treeName(actual),
      `the procedure assigns ${name}, and this argument is not a variable`,
      "pass a variable",
    );
  const indices = found.indices.map((index) => cx.stable(index, "at"));
  const cell = found.array.at(indices);
  const local = cx.local(name, type, dummy.attributes.has("intent(out)") ? undefined : converted(type, cell.load(actual.at), actual.at));
  after.push(() => cx.push(cell.store(converted(found.array.type, { op: "local", type, name: local.name }, actual.at), actual.at)));
  return local;
}

function arrayArgument(cx: FortranLowering, frame: ProcedureFrame, inner: ProcedureFrame, dummy: Variable, actual: Tree): Meaning {
  const found = designated(cx, frame, actual);
  if (!found)
    throw new Unlowerable(actual.at, treeName(actual), `an expression is given for the array ${dummy.name}`, "assign it to an array first");
  const { array } = found;
  if (array.type !== dummy.type)
    throw new Unlowerable(actual.at, array.name, `it is of ${array.type}, and the argument ${dummy.name} of ${dummy.type}`);
  const dims = declaredShape(dummy.dims!, (bound) => cx.stable(value(cx, inner, bound), "bound"));
  // Allocatable arrays and pointers keep their bounds.
  const keeps = dummy.attributes.has("allocatable") || dummy.attributes.has("pointer");
  const lowers = keeps ? array.lowers : dims.map(({ lower }) => lower);
  const first = "cell" in found ? elementPlace(array, found.indices) : undefined;
  if (dummy.dims!.some(({ assumed }) => assumed)) {
    if (first || dims.length !== array.extents.length)
      throw new Unlowerable(actual.at, array.name, `it does not have the ${dims.length} axes of the argument ${dummy.name}`);
    return { kind: "array", array: associated(array, { lowers, extents: array.extents }) };
  }
  // The last extent of an array of assumed size is never needed.
  const extents = dims.map(({ extent }, axis) => extent ?? array.extents[Math.min(axis, array.extents.length - 1)]);
  return { kind: "array", array: associated(array, { lowers, extents }, first) };
}

/** Whether an argument is an array of objects, or an element of one. */
const isInArray = (frame: ProcedureFrame, dummy: Variable, actual: Tree): boolean =>
  dummy.dims !== undefined || (actual.kind === "apply" && variableIn(frame, actual.base)?.derived !== undefined);

/** Gives each component that a procedure may name its own argument. */
function componentArguments(
  cx: FortranLowering,
  frame: ProcedureFrame,
  inner: ProcedureFrame,
  dummy: Variable,
  actual: Tree,
  after: (() => void)[],
): void {
  const { scope } = inner;
  const { unit } = scope;
  if (unit.kind === "module") return;
  const [used, written] = [namesIn(unit.body), writtenBy(scope)];
  const object: Name = { kind: "name", name: dummy.name, at: dummy.at };
  for (const part of nestedComponents(scope, object)) {
    const variable = namedVariable(scope, part)!;
    const name = variableName(part);
    if (variable.derived || ![...used].some((each) => `${name}_`.startsWith(`${each}_`))) continue;
    if (variable.initial && dummy.attributes.has("intent(out)"))
      throw new Unlowerable(
        actual.at,
        dummy.name,
        `${dummy.name} has initial values from its type`,
        "make it intent(inout), and assign them",
      );
    if (variable.refused && !variable.byte) continue;
    const given = givenComponent(frame.scope, part, actual);
    inner.meanings.set(
      name,
      variable.dims
        ? arrayArgument(cx, frame, inner, variable, given)
        : scalarArgument(cx, frame, variable, given, written.has(name), after),
    );
  }
}

/** A component, `q%pos%x` of a dummy `q`, of the object that is given for it. */
export const givenComponent = (scope: UnitScope, part: Name | ComponentRef, actual: Tree): Tree =>
  part.kind === "name" || (part.base.kind !== "name" && part.base.kind !== "part")
    ? actual
    : componentOfObject(scope, givenComponent(scope, part.base, actual), part.name);

/** The caller's object that a dummy argument stands for. @throws Unlowerable */
function objectArgument(
  frame: ProcedureFrame,
  scope: UnitScope,
  dummy: Variable,
  actual: Tree,
): { frame: ProcedureFrame; of: Name | ComponentRef } {
  const of = objectGiven(scope, dummy, actual);
  const refuse = (why: string, remedy: string): never => {
    throw new Unlowerable(actual.at, treeName(actual), why, remedy);
  };
  if (variableIn(frame, of)?.derived === undefined) refuse(`${dummy.name} is an object`, "pass an object of its type");
  const parts = nestedComponents(scope, { kind: "name", name: dummy.name, at: dummy.at });
  if (parts.some((part) => dummy.attributes.has("intent(out)") && namedVariable(scope, part)!.initial))
    refuse(`${dummy.name} has initial values from its type`, "make it intent(inout), and assign its components");
  return { frame, of };
}

/** The object that is given for a dummy argument of a procedure. @throws Unlowerable */
export function objectGiven(scope: UnitScope, dummy: Pick<Variable, "name" | "dims" | "attributes">, actual: Tree): Name | ComponentRef {
  const refuse = (why: string, remedy: string): never => {
    throw new Unlowerable(actual.at, treeName(actual), why, remedy);
  };
  if (dummy.dims || (actual.kind !== "name" && actual.kind !== "part"))
    return refuse(`it is passed for the object ${dummy.name}`, "pass a scalar variable of that type");
  const { unit } = scope;
  // Kernels have scalars for themselves.
  const isOwn = (name: string): boolean => unit.kind === "procedure" && unit.attributes.includes("global") && !findNamed(scope, name)?.dims;
  if (dummy.attributes.has("value") && unit.kind !== "module")
    for (const name of writesOf(scope, unit.body))
      if (name.startsWith(`${dummy.name}_`) && !isOwn(name))
        refuse(`${dummy.name} is passed by value, and assigned`, "assign a variable of the procedure");
  return actual;
}

/** Statements with the returns among them turned into branches. */
export const structured = (cx: FortranLowering, list: readonly Stmt[], at: Location): Stmt[] =>
  structure(list, (wish) => cx.unique(wish), at);
