import { own } from "../../base/own.js";
import type { Module } from "../tree/index.js";
import type { UnitScope } from "./scope.js";

/*
 * Names that a scope knows, by the standard's rules: its own, names that `use` brings, names of its host. Their meaning is decided elsewhere.
 */

/** Scope that declares a name, and its name there. `scope` is undefined for a module that was not given. */
interface Binding {
  readonly scope?: UnitScope;
  readonly module: string;
  readonly name: string;
}

/** Intrinsic modules, whose constants are known without their text. */
const INTRINSIC: Readonly<Record<string, RegExp>> = {
  iso_fortran_env: /^(u?int(8|16|32|64)|real(16|32|64|128))$/,
  // Tables 18.1 and 18.2 of Fortran 2018, and its procedures.
  iso_c_binding: new RegExp(
    "^c_(short|int|long|long_long|signed_char|size_t|int((_least|_fast)?(8|16|32|64|128)|max|ptr)_t|ptrdiff_t|(float|double|long_double|float128)(_complex)?" +
      "|bool|char|null_char|alert|backspace|form_feed|new_line|carriage_return|horizontal_tab|vertical_tab|null_ptr|null_funptr|ptr|funptr|loc|funloc" +
      "|associated|f_pointer|f_procpointer|sizeof)$",
  ),
};

/** Names that all `use` statements of one module bring in. */
interface Used {
  readonly module: string;
  /** Names here, and their names in the module. */
  readonly names: ReadonlyMap<string, string>;
  /** Whether one of the statements is without `only`. */
  readonly all: boolean;
  /** Names in the module that are seen by other names alone. */
  readonly hidden: ReadonlySet<string>;
}

const USED = new WeakMap<UnitScope["unit"], readonly Used[]>();

function usedBy(unit: UnitScope["unit"]): readonly Used[] {
  const known = USED.get(unit);
  if (known) return known;
  const modules = new Set(unit.uses.map(({ module }) => module));
  const made = [...modules].map((module): Used => {
    const uses = unit.uses.filter((use) => use.module === module);
    const listed = uses.flatMap(({ only, renames }) => [...(only ?? []), ...renames]);
    return {
      module,
      names: new Map(listed.map(({ name, original }) => [name, original])),
      all: uses.some(({ only }) => !only),
      hidden: new Set(listed.flatMap(({ name, original }) => (name === original ? [] : [original]))),
    };
  });
  USED.set(unit, made);
  return made;
}

/** Public names of a module. */
interface Access {
  readonly isPrivate: boolean;
  /** By names that a statement or an attribute mentions. */
  readonly explicit: ReadonlyMap<string, "private" | "public">;
}

const ACCESS = new WeakMap<Module, Access>();

function accessOf(unit: Module): Access {
  const known = ACCESS.get(unit);
  if (known) return known;
  let isPrivate = false;
  const explicit = new Map<string, "private" | "public">();
  for (const d of unit.declarations) {
    if (d.kind === "variables") {
      const word = d.attributes.find((each) => each === "private" || each === "public");
      if (word === "private" || word === "public") for (const { name } of d.names) explicit.set(name, word);
    } else if (d.kind === "type") {
      if (d.access) explicit.set(d.name, d.access);
    } else if (d.kind === "other" && (d.word === "private" || d.word === "public")) {
      // Skips a comment at the end, and operators, which are not names of variables.
      const list =
        d.text
          .toLowerCase()
          .replace(/!.*/s, "")
          .slice(d.word.length)
          .replace(/\([^)]*\)/g, " ")
          .match(/\w+/g) ?? [];
      for (const name of list) explicit.set(name, d.word);
      if (list.length === 0) isPrivate = d.word === "private";
    }
  }
  const made = { isPrivate, explicit };
  ACCESS.set(unit, made);
  return made;
}

/** Whether others see a name of a module; `through` are the modules that it has the name from, if it is not its own. */
function isPublic({ unit }: UnitScope, name: string, through: readonly string[] = []): boolean {
  if (unit.kind !== "module") return true;
  const { isPrivate, explicit } = accessOf(unit);
  const word = explicit.get(name);
  if (word !== undefined) return word === "public";
  // Fortran 2018 gives what comes from a module the accessibility that the module's name has.
  const words = through.flatMap((module) => explicit.get(module) ?? []);
  return words.length > 0 ? words.includes("public") : !isPrivate;
}

/** Whether a scope itself declares a name. */
const declares = ({ variables, procedures, types, interfaces }: UnitScope, name: string): boolean =>
  variables.has(name) || procedures.has(name) || types.has(name) || interfaces.has(name);

/**
 * Possible meanings of a name: none if it is unknown, several if modules have different things by that name, which is an error where
 * it is used.
 */
export function bindingsOf(scope: UnitScope, name: string): readonly Binding[] {
  const found = ownBindings(scope, name);
  if (found.length > 0 || !scope.parent) return found;
  return isImported(scope.unit, name) ? bindingsOf(scope.parent, name) : [];
}

/** Without the host. */
function ownBindings(scope: UnitScope, name: string): readonly Binding[] {
  if (declares(scope, name)) return [{ scope, module: scope.unit.name, name }];
  return throughUse(scope, name, new Map()).map(({ binding }) => binding);
}

/** Modules visited in one search, with their results; undefined while a visit is under way. */
type Asked = Map<UnitScope, Map<string, readonly Binding[]>>;

function throughUse(scope: UnitScope, name: string, asked: Asked): readonly { binding: Binding; through: string }[] {
  const found: { binding: Binding; through: string }[] = [];
  for (const { module, names, all, hidden } of usedBy(scope.unit)) {
    const wanted = names.get(name) ?? (all && !hidden.has(name) ? name : undefined);
    if (wanted === undefined) continue;
    for (const binding of exported(scope, module, wanted, names.has(name), asked))
      if (!found.some((other) => isSame(other.binding, binding))) found.push({ binding, through: module });
  }
  return found;
}

/** Bindings that a module exports by a name; `isNamed` says that an `only` list asks for it. */
function exported(from: UnitScope, module: string, name: string, isNamed: boolean, asked: Asked): readonly Binding[] {
  const scope = from.world.modules.get(module);
  if (!scope) return isNamed || own(INTRINSIC, module)?.test(name) ? [{ module, name }] : [];
  const answers = asked.get(scope) ?? new Map<string, readonly Binding[]>();
  asked.set(scope, answers);
  const known = answers.get(name);
  if (known) return known;
  answers.set(name, []);
  const found = given(scope, name, asked);
  answers.set(name, found);
  return found;
}

function given(scope: UnitScope, name: string, asked: Asked): readonly Binding[] {
  if (declares(scope, name)) return isPublic(scope, name) ? [{ scope, module: scope.unit.name, name }] : [];
  const found = throughUse(scope, name, asked);
  const through = found.map((each) => each.through);
  return isPublic(scope, name, through) ? found.map(({ binding }) => binding) : [];
}

const isSame = (a: Binding, b: Binding): boolean => a.scope === b.scope && a.module === b.module && a.name === b.name;

/** Whether `import` lets a procedure see a name of its host. */
function isImported({ declarations }: UnitScope["unit"], name: string): boolean {
  for (const d of declarations) {
    const [, rest] = (d.kind === "other" && d.word === "import" && /^import\s*,\s*(.*)$/is.exec(d.text)) || [];
    if (rest === undefined) continue;
    if (/^none\b/i.test(rest)) return false;
    const [, list] = /^only\s*:([^!]*)/i.exec(rest) ?? [];
    const names: readonly string[] = list?.toLowerCase().match(/\w+/g) ?? [];
    if (list !== undefined && !names.includes(name)) return false;
  }
  return true;
}
