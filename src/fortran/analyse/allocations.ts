import type { Bound } from "../tree/index.js";
import type { Scope, Variable } from "./symbols.js";
import { nameOf, walkStatements } from "./walk.js";

/** Bounds, and where their names are known. */
export interface Allocation {
  readonly bounds: readonly Bound[];
  readonly scope: Scope;
}

const OF_WORLD = new WeakMap<Scope["world"], Map<string, Allocation>>();

/** Bounds of an array whose declaration leaves them open, from its `allocate`, where one is read. */
export function findAllocation(variable: Variable): Allocation | undefined {
  const { world } = variable.scope;
  if (variable.dummy || !variable.dims?.every(({ lower, upper }) => !lower && !upper)) return undefined;
  let known = OF_WORLD.get(world);
  if (!known) OF_WORLD.set(world, (known = allocations(world)));
  return known.get(`${variable.scope.unit.name} ${variable.name}`);
}

function allocations(world: Scope["world"]): Map<string, Allocation> {
  const found = new Map<string, Allocation>();
  for (const scope of world.scopes) {
    if (scope.unit.kind === "module") continue;
    walkStatements(scope.unit.body, (stmt) => {
      if (stmt.kind !== "allocate") return;
      for (const { target } of stmt.arrays) {
        if (target.kind !== "apply") continue;
        const bounds = target.args.map((arg): Bound => {
          if (arg.kind === "value") return { upper: arg.value, assumed: false };
          return { ...(arg.lower && { lower: arg.lower }), ...(arg.upper && { upper: arg.upper }), assumed: !arg.upper };
        });
        for (let at: Scope | undefined = scope; at; at = at.parent) {
          const key = `${at.unit.name} ${nameOf(target)}`;
          if (at.variables.has(nameOf(target)) && !found.has(key)) found.set(key, { bounds, scope });
        }
      }
    });
  }
  return found;
}
