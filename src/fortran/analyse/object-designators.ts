import { namedVariable, type UnitScope } from "./symbols.js";
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

/** A designator without indices, and the indices that belong to it. */
interface Indexed {
  readonly of: Name | ComponentRef;
  readonly args: readonly ActualArgument[];
  /** Axes of the variable and of the objects around it. */
  readonly axes: number;
  /** Whether indices are written, and not only meant. */
  readonly isWhole: boolean;
  /** Whether it is a component of an array of objects. */
  readonly isInArray: boolean;
}

function next(scope: UnitScope, around: Indexed | undefined, { name, args: given, at }: Level): Indexed | undefined {
  const of: Name | ComponentRef = around ? { kind: "part", base: around.of, name, at } : { kind: "name", name, at };
  const variable = namedVariable(scope, of);
  if (!variable) return undefined;
  const outer = around?.axes ?? 0;
  const axes = variable.dims?.length ?? 0;
  const rank = axes - outer;
  // All indices may stand here already.
  const areLast = around?.isWhole !== false && outer > 0 && given?.length === axes;
  if (given && given.length !== rank && !areLast) return undefined;
  const own = given ?? Array.from({ length: rank }, (): ActualArgument => ({ kind: "section" }));
  const args = areLast ? own : [...own, ...(around?.args ?? [])];
  return { of, args, axes, isWhole: around?.isWhole !== false && given === undefined, isInArray: outer > 0 };
}

/** `p(i)%c(2)` as `p%c(2, i)`: one array for each component, its own axes first. Undefined for other designators. */
export function withIndicesLast(scope: UnitScope, e: Expr): Expr | undefined {
  const levels = e.kind === "part" || e.kind === "apply" ? levelsOf(e) : undefined;
  let made: Indexed | undefined;
  for (const level of levels ?? []) {
    made = next(scope, made, level);
    if (!made) return undefined;
  }
  if (!made?.isInArray) return undefined;
  return made.isWhole ? made.of : { kind: "apply", base: made.of, args: made.args, at: e.at };
}

/** A component of the object that an expression designates. */
export const componentOfObject = (scope: UnitScope, object: Expr, name: string): Expr => {
  const part: ComponentRef = { kind: "part", base: object, name, at: object.at };
  return withIndicesLast(scope, part) ?? part;
};
