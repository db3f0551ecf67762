import type { Expr } from "../../ir/types.js";
import { isSaved, nestedComponents, namedVariable, type Variable } from "../analyse/symbols.js";
import { eachStatement } from "../analyse/visit.js";
import { variableName, namesIn, walkAll } from "../analyse/walk.js";
import type { Name, ComponentRef } from "../tree/index.js";
import { declaredShape } from "./arrays.js";
import { declaring, eachIndex, value, valueAs } from "./expressions.js";
import type { ProcedureFrame, FortranLowering, Meaning } from "./lowering.js";
import { Unlowerable } from "./values.js";
import { narrowed } from "./wide.js";

/* Variables that an element, or a procedure that it calls, has for itself. */

/** Declares variables that belong to a procedure itself, as far as its statements name them. */
export function declareLocals(cx: FortranLowering, frame: ProcedureFrame, wanted: (name: string) => boolean): void {
  const { unit } = frame.scope;
  if (unit.kind === "module") return;
  const used = new Set<string>(unit.kind === "procedure" && unit.form === "function" ? [unit.result ?? unit.name] : []);
  eachStatement(unit.body, (stmt) => void (stmt.kind === "do" && used.add(stmt.variable)));
  walkAll(unit.body, (e) => void (e.kind === "name" && used.add(e.name)));
  for (const [name, variable] of frame.scope.variables) {
    if (!wanted(name) || variable.value || frame.meanings.has(name)) continue;
    if (variable.derived) declareObject(cx, frame, { kind: "name", name, at: variable.at });
    else if (used.has(name)) {
      if (isSaved(variable))
        throw new Unlowerable(variable.at, name, "it keeps its value between calls, which kernels cannot do", "pass it as an argument");
      frame.meanings.set(name, declared(cx, frame, variable));
    }
  }
}

/** A variable of the element's own. */
export function declared(cx: FortranLowering, frame: ProcedureFrame, variable: Variable, init?: Expr): Meaning {
  const { name, type, dims, refused } = variable.byte ? narrowed(variable) : variable;
  if (refused) throw new Unlowerable(variable.at, refused.construct, refused.why, refused.remedy);
  if (!dims) return cx.local(name, type, init);
  if (variable.byte) throw new Unlowerable(variable.at, name, "private arrays cannot hold 8-bit integers", "use integer(4)");
  const shape = declaredShape(dims, (bound) => value(cx, frame, bound));
  const extents = shape.map(({ extent }) => extent);
  if (!cx.canHave(extents))
    throw new Unlowerable(
      variable.at,
      name,
      "the size of a private array is not known before the launch",
      "make its bounds parameters or arguments",
    );
  const array = cx.array(name, type, { lowers: shape.map(({ lower }) => lower), extents }, variable.at);
  const { objects, initial } = variable;
  if (objects && initial)
    eachIndex(cx, array.extents, (index) => cx.push(array.at(index).store(valueAs(cx, frame, type, initial), variable.at)));
  return { kind: "array", array };
}

/** Makes those components of a local object variables, `p%x` by the name `p_x`, that statements may name. @throws Unlowerable */
function declareObject(cx: FortranLowering, frame: ProcedureFrame, object: Name | ComponentRef): void {
  const used = namesIn(frame.body);
  for (const part of nestedComponents(frame.scope, object)) {
    const variable = namedVariable(frame.scope, part)!;
    if (variable.derived || ![...used].some((name) => `${variableName(part)}_`.startsWith(`${name}_`))) continue;
    frame.meanings.set(variableName(part), declared(cx, declaring(variable), variable, initialOf(cx, variable)));
  }
}

/** Initial value of a component of a new object, by its type. */
export const initialOf = (cx: FortranLowering, variable: Variable): Expr | undefined =>
  variable.component !== undefined && variable.initial && !variable.dims
    ? valueAs(cx, declaring(variable), variable.type, variable.initial)
    : undefined;
