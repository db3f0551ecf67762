import type { Module, ComponentRef, Procedure, MainProgram } from "../tree/index.js";
import { blockNames, renamedVariables, uses } from "./blocks.js";
import { eachNode } from "./visit.js";
import { variableName } from "./walk.js";

/** Renames variables of the unit that would clash with a component's name in kernels: `b_node` beside `b%node`. */
export function besideComponents<T extends Module | Procedure | MainProgram>(unit: T): T {
  if (unit.kind === "module") return unit;
  const components = new Set<string>();
  eachNode([unit.body, unit.procedures], (node) => void (node.kind === "part" && components.add(variableName(node as ComponentRef))));
  const given = unit.kind === "procedure" ? [...unit.dummies, unit.result ?? unit.name] : [];
  return blockNames(unit.declarations).reduce((made, name) => {
    if (!components.has(name) || given.includes(name)) return made;
    let free = name;
    for (let n = 2; uses(made, free) > 0 || components.has(free); n++) free = `${name}_${n}`;
    return renamedVariables(made, name, free) as T;
  }, unit);
}
