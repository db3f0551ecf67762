import type { View } from "../../device/memory/view.js";
import type { PlainValue } from "../../ir/operators.js";
import { findNamed, ownerOf, type UnitScope } from "../analyse/symbols.js";

/* Variables of a routine that runs, and of those around it: modules are outermost. */

/** The variables of one call. */
export class CallVariables {
  readonly scalars = new Map<string, PlainValue>();
  readonly arrays = new Map<string, View>();

  constructor(
    readonly scope: UnitScope,
    readonly outer?: CallVariables,
  ) {}

  /** Whether a variable, or something of an object, has a value here. */
  has(name: string): boolean {
    if (this.scalars.has(name) || this.arrays.has(name)) return true;
    return (
      this.scope.variables.get(name)?.derived !== undefined &&
      [...this.scalars.keys(), ...this.arrays.keys()].some((key) => key.startsWith(`${name}_`))
    );
  }

  /** Whether it is an optional argument that is absent. */
  lacks(name: string): boolean {
    return this.scope.variables.get(name)?.attributes.has("optional") === true && !this.has(name);
  }

  /** Home of a variable, and its name there; found by its name here, or by the variable if code elsewhere refers to it. */
  place(name: string, variable = findNamed(this.scope, name)): VariablePlace {
    const owner = variable && ownerOf(variable);
    const around = this.around();
    if (owner?.unit.kind === "module") return { home: around.at(-1)!, key: nameOfModules(owner, variable!.name) };
    const home = around.find(({ scope }) => scope === owner);
    return variable && home ? { home, key: variable.name } : { home: this.nearest(name), key: name };
  }

  /** These, and those that they see, outermost last. */
  around(): CallVariables[] {
    return [this, ...(this.outer?.around() ?? [])];
  }

  private nearest(name: string): CallVariables {
    const { variables } = this.scope;
    if (!this.outer || this.scalars.has(name) || this.arrays.has(name) || variables.has(name)) return this;
    for (const variable of variables.values()) if (variable.derived && name.startsWith(`${variable.name}_`)) return this;
    return this.outer.nearest(name);
  }
}

/** Gives a scalar a value. */
export const assignScalar = ({ home, key }: VariablePlace, value: PlainValue): void => void home.scalars.set(key, value);

/** Home of a variable, and its name there. */
export interface VariablePlace {
  readonly home: CallVariables;
  readonly key: string;
}

const AMONG_ALL = new WeakMap<UnitScope, Map<string, string>>();

/** Name of a module variable among the variables of all modules: `grid::n` if several have an `n`. */
export function nameOfModules(module: UnitScope, name: string): string {
  const known = AMONG_ALL.get(module) ?? new Map<string, string>();
  AMONG_ALL.set(module, known);
  const found = known.get(name) ?? (modulesWith(module.world, name).length > 1 ? `${module.unit.name}::${name}` : name);
  known.set(name, found);
  return found;
}

/** Modules that declare a variable of that name. */
export const modulesWith = ({ scopes }: UnitScope["world"], name: string): UnitScope[] =>
  scopes.filter((module) => {
    if (module.unit.kind !== "module") return false;
    const variable = findNamed(module, name);
    return variable && !variable.value && ownerOf(variable) === module;
  });
