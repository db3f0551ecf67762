/* The variables that a procedure sees: its own, variables of procedures around it, variables of its module. */

import type { Module, Procedure, MainProgram } from "../tree/index.js";

export interface PortVariable {
  readonly name: string;
  readonly isArray: boolean;
  readonly isDerived: boolean;
  readonly attributes: ReadonlySet<string>;
  /** Declared in the procedure, and no dummy of it. */
  readonly isLocal: boolean;
  /** Declared around the procedure. */
  readonly isOuter: boolean;
  /** In the device's memory, as a dummy array of a kernel is without a word. */
  readonly isOnDevice: boolean;
  /** An array that each thread of a kernel has for itself. */
  readonly isThreads: boolean;
}

const DEVICE: readonly string[] = ["device", "managed", "constant"];

/** By names. The inner declaration hides the outer. */
export function variablesOf(
  unit: Module | Procedure | MainProgram,
  outer: ReadonlyMap<string, PortVariable> = new Map(),
): Map<string, PortVariable> {
  const dummies = unit.kind === "procedure" ? unit.dummies : [];
  const made = new Map([...outer].map(([name, variable]) => [name, { ...variable, isLocal: false, isOuter: true }]));
  const own = new Map<string, { isArray: boolean; isDerived: boolean; attributes: Set<string> }>();
  for (const d of unit.declarations) {
    // Variables in common blocks outlive a call.
    const general = d.kind === "variables" ? d.attributes : d.kind === "attributes" ? [d.attribute] : ["save"];
    const names =
      d.kind === "variables" || d.kind === "attributes" ? d.names : d.kind === "other" ? (d.common ?? []).flatMap((b) => b.names) : [];
    for (const { name, dimension } of names) {
      const known = own.get(name) ?? { isArray: false, isDerived: false, attributes: new Set<string>() };
      own.set(name, known);
      known.isArray ||= dimension !== undefined || general.includes("dimension");
      known.isDerived ||= d.kind === "variables" && d.type.type === "derived";
      for (const attribute of general) known.attributes.add(attribute);
    }
  }
  const isKernel = unit.kind === "procedure" && (unit.attributes.includes("global") || unit.attributes.includes("device"));
  for (const [name, parts] of own) {
    const isDummy = dummies.includes(name);
    const isLocal = unit.kind === "procedure" && !isDummy;
    const isOnDevice = DEVICE.some((attribute) => parts.attributes.has(attribute)) || (isKernel && isDummy && parts.isArray);
    made.set(name, {
      name,
      ...parts,
      isLocal,
      isOnDevice,
      isOuter: false,
      isThreads: isKernel && isLocal && parts.isArray && !parts.attributes.has("parameter"),
    });
  }
  return made;
}
