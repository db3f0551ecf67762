import { findProcedure, namedVariable, nestedComponents, type UnitScope, type Variable } from "../analyse/symbols.js";
import { writtenBy } from "../analyse/writes.js";
import { givenComponent } from "../lower/calls.js";
import type { Apply, ActualArgument, CallStatement, Designator, Expr, Name, Stmt } from "../tree/index.js";

/* Elements of arrays that calls on the host assign as scalars. */

/** A call with variables in place of such elements, statements that set these before it, and statements that copy them back after it. */
export function withElements(
  scope: UnitScope,
  call: CallStatement,
  temporary: (wish: string, declared: Variable) => string,
): { before: Stmt[]; call: CallStatement; after: Stmt[] } {
  const [before, after]: [Stmt[], Stmt[]] = [[], []];
  const procedure = call.procedure.kind === "name" ? findProcedure(scope, call.procedure.name) : undefined;
  if (procedure?.unit.kind !== "procedure" || procedure.unit.attributes.includes("global")) return { before, call, after };
  const { dummies } = procedure.unit;
  const written = writtenBy(procedure);
  const kept = (e: Expr, declared: Variable, wish: string): Name => {
    const made: Name = { kind: "name", name: temporary(wish, declared), at: e.at };
    before.push({ kind: "assign", target: made, value: e, at: e.at });
    return made;
  };
  /** The element at indices that stay: the call may change what they are made of. */
  const atKeptPlace = (element: Apply, array: Variable): Apply => {
    const place = element.args.map((index): ActualArgument => {
      if (index.kind !== "value" || index.value.kind === "literal") return index;
      const { objects: _, component: __, refused: ___, derived: ____, ...plain } = array;
      return { ...index, value: kept(index.value, { ...plain, type: "i32" }, "index") };
    });
    return { ...element, args: place };
  };
  /** An object with the components of an element of an array of objects. */
  const object = (element: Apply, array: Variable): Name => {
    const from = atKeptPlace(element, array);
    const { dims: _, ...one } = array;
    const made: Name = { kind: "name", name: temporary("object", one), at: element.at };
    for (const part of nestedComponents(scope, made)) {
      const variable = namedVariable(scope, part)!;
      if (variable.derived !== undefined || variable.refused) continue;
      const component = givenComponent(scope, part, from) as Designator;
      before.push({ kind: "assign", target: part, value: component, at: element.at });
      after.push({ kind: "assign", target: component, value: part, at: element.at });
    }
    return made;
  };
  const args = call.args.map((arg, n): ActualArgument => {
    if (arg.kind !== "value" || arg.value.kind !== "apply") return arg;
    const element = arg.value;
    const dummy = procedure.variables.get(arg.keyword ?? dummies[n]);
    const array = namedVariable(scope, element.base);
    if (dummy?.derived !== undefined && !dummy.dims && array?.dims) return { ...arg, value: object(element, array) };
    if (!dummy || dummy.dims || dummy.derived || !written.has(dummy.name) || !array?.dims || array.refused) return arg;
    const target = atKeptPlace(element, array);
    const value = kept(target, array, "element");
    after.push({ kind: "assign", target, value, at: element.at });
    return { ...arg, value };
  });
  return { before, call: { ...call, args }, after };
}
