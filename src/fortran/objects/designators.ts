import { namedVariable, type UnitScope } from "../analyse/symbols.js";
import type { ActualArgument, ComponentRef, Expr, Name } from "../tree/index.js";

/* Designators of components, with the indices of arrays of objects at their end. */

/** A variable or a component, and the indices that stand after it. */
interface Level {
  readonly name: string;
  readonly args?: readonly ActualArgument[];
  readonly at: Expr["at"];
}

/** The variable and components of a designator, outermost first; undefined of a component of something else. */
function levelsOf(e: Expr): Level[] | undefined {
  switch (e.kind) {
    case "name":
      return [{ name: e.name, at: e.at }];
    case "part": {
      const around = levelsOf(e.base);
      return around && [...around, { name: e.name, at: e.at }];
    }
    case "apply": {
      const around = levelsOf(e.base);
      const last = around?.at(-1);
      return last && !last.args ? [...around!.slice(0, -1), { ...last, args: e.args }] : undefined;
    }
    // Any other expression is not a designator.
    default:
      return undefined;
  }
}

/** `p(i)%c(2)` as `p%c(2, i)`: one array for each component, its own axes first. Undefined of what has no array of objects in it. */
export function withIndicesLast(scope: UnitScope, e: Expr): Expr | undefined {
  const levels = e.kind === "part" || e.kind === "apply" ? levelsOf(e) : undefined;
  if (!levels || levels.length === 1) return undefined;
  let designator: Name | ComponentRef = { kind: "name", name: levels[0].name, at: levels[0].at };
  let axes = 0;
  let args: ActualArgument[] = [];
  let [isInArray, isWhole] = [false, true];
  for (const [n, level] of levels.entries()) {
    if (n > 0) designator = { kind: "part", base: designator, name: level.name, at: level.at };
    const variable = namedVariable(scope, designator);
    if (!variable) return undefined;
    const all = variable.dims?.length ?? 0;
    const rank = all - axes;
    // All indices may stand here already.
    const areLast = isWhole && axes > 0 && level.args?.length === all;
    if (level.args && level.args.length !== rank && !areLast) return undefined;
    if (n < levels.length - 1) isInArray ||= rank > 0;
    isWhole &&= level.args === undefined;
    const own = level.args ?? Array.from({ length: rank }, (): ActualArgument => ({ kind: "section" }));
    args = areLast ? [...own] : [...own, ...args];
    axes = all;
  }
  if (!isInArray) return undefined;
  return isWhole ? designator : { kind: "apply", base: designator, args, at: e.at };
}

/** A component of the object that an expression designates. */
export const componentOfObject = (scope: UnitScope, object: Expr, name: string): Expr => {
  const part: ComponentRef = { kind: "part", base: object, name, at: object.at };
  return withIndicesLast(scope, part) ?? part;
};
