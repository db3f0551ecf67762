import type { Module, Part, Procedure, Program } from "../tree/index.js";
import { namesOf, renamed, uses } from "./blocks.js";
import { eachNode } from "./visit.js";
import { nameOf } from "./walk.js";

/** Renames variables of the unit that would clash with a component's name in kernels: `b_node` beside `b%node`. */
export function besideComponents<T extends Module | Procedure | Program>(unit: T): T {
  if (unit.kind === "module") return unit;
  const components = new Set<string>();
  eachNode([unit.body, unit.procedures], (node) => void (node.kind === "part" && components.add(nameOf(node as Part))));
  const given = unit.kind === "procedure" ? [...unit.dummies, unit.result ?? unit.name] : [];
  return namesOf(unit.declarations).reduce((made, name) => {
    if (!components.has(name) || given.includes(name)) return made;
    let free = name;
    for (let n = 2; uses(made, free) > 0 || components.has(free); n++) free = `${name}_${n}`;
    return renamed(made, name, free) as T;
  }, unit);
}
