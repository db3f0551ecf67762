import { own } from "../../ir/own.js";
import { unreachable } from "../../ir/unreachable.js";
import type { ScalarType } from "../../ir/types.js";
import type { Location } from "../../ir/types.js";
import type { Problems } from "../errors.js";
import type {
  Bound,
  DeclaredName,
  Expr,
  Module,
  Name,
  Part,
  Procedure,
  Program,
  SourceFile,
  TypeDefinition,
  TypeSpec,
  VariableDeclaration,
} from "../tree/index.js";
import { withoutBlocks } from "./blocks.js";
import { besideComponents } from "./component-names.js";
import { mayChange } from "./initial.js";
import { nameOf, namesOf } from "./walk.js";

/* Names and what they stand for: variables with their types and bounds, procedures, derived types, over modules and what they use. */

export interface Variable {
  readonly name: string;
  readonly type: ScalarType;
  /** Why no kernel can use it: `complex`. */
  readonly refused?: { readonly construct: string; readonly why: string; readonly remedy: string };
  /** An integer of 64 bits: `refused`, but for scalars where 32 are enough (lower/wide). */
  readonly wide?: true;
  /** An integer of 8 bits: `refused`, but for arrays of the program and for scalars. */
  readonly byte?: true;
  /** The name of its derived type. */
  readonly derived?: string;
  /** Of a component: its type and its name there. */
  readonly component?: string;
  /** Of a component: where its object is declared. `scope` is that of its type. */
  readonly owner?: Scope;
  /** Of an array, its bounds as declared. */
  readonly dims?: readonly Bound[];
  readonly attributes: ReadonlySet<string>;
  readonly dummy: boolean;
  /** The value of a `parameter`, or of a variable that begins with one and is never assigned. */
  readonly value?: Expr;
  /** The value that a variable begins with; a procedure's own keeps from call to call what is assigned to it. */
  readonly initial?: Expr;
  readonly scope: Scope;
  readonly at: Location;
}

export interface Scope {
  readonly unit: Module | Procedure | Program;
  /** The file that was read: the unit may stand in one that it includes. */
  readonly file: string;
  readonly parent?: Scope;
  readonly variables: Map<string, Variable>;
  readonly procedures: Map<string, Scope>;
  readonly types: Map<string, TypeDefinition>;
  readonly world: World;
}

/** The files that are read together. */
export interface World {
  readonly modules: Map<string, Scope>;
  /** Procedures outside of modules. */
  readonly external: Map<string, Scope>;
  readonly scopes: Scope[];
  /** Kinds by name, over what modules say: `{ rkind: "f64", ikind: "i32" }`. */
  readonly kinds: Readonly<Record<string, "f64" | "f32" | "i32">>;
  readonly problems: Problems;
}

/** Kinds of intrinsic modules, in bytes. */
const KINDS: Readonly<Record<string, number>> = {
  real32: 4,
  real64: 8,
  real128: 16,
  int8: 1,
  c_int8_t: 1,
  c_char: 1,
  c_signed_char: 1,
  int16: 2,
  int32: 4,
  int64: 8,
  c_float: 4,
  c_double: 8,
  c_int: 4,
  c_int32_t: 4,
  c_int64_t: 8,
  c_long: 8,
  c_size_t: 8,
  c_bool: 1,
  c_long_long: 8,
};

export function readSymbols(files: readonly SourceFile[], kinds: World["kinds"], problems: Problems): World {
  const world: World = { modules: new Map(), external: new Map(), scopes: [], kinds, problems };
  for (const { file, units } of files)
    for (const unit of units) {
      if (isBroken(unit)) continue;
      const scope = scopeOf(unit, file, undefined, world);
      if (unit.kind === "module") world.modules.set(unit.name, scope);
      else if (unit.kind === "procedure") world.external.set(unit.name, scope);
    }
  const declared = new Set<Scope>();
  // Kinds and bounds may stand in modules that come later: what a scope uses is declared before it.
  const declare = (scope: Scope | undefined): void => {
    if (!scope || declared.has(scope)) return;
    declared.add(scope);
    declare(scope.parent);
    for (const { module } of scope.unit.uses) declare(world.modules.get(module));
    declareAll(scope);
  };
  world.scopes.forEach(declare);
  return world;
}

/** Of a routine with statements that could not be read, nothing is used. */
const isBroken = (unit: Scope["unit"]): boolean => unit.kind !== "module" && unit.broken === true;

function scopeOf(written: Scope["unit"], file: string, parent: Scope | undefined, world: World): Scope {
  const unit = besideComponents(withoutBlocks(written));
  const scope: Scope = { unit, file, parent, variables: new Map(), procedures: new Map(), types: new Map(), world };
  world.scopes.push(scope);
  for (const inner of unit.procedures) if (!isBroken(inner)) scope.procedures.set(inner.name, scopeOf(inner, file, scope, world));
  for (const declaration of unit.declarations) if (declaration.kind === "type") scope.types.set(declaration.name, declaration);
  return scope;
}

interface Draft {
  name: string;
  spec?: TypeSpec;
  dims?: readonly Bound[];
  attributes: Set<string>;
  value?: Expr;
  at: Location;
}

function declareAll(scope: Scope): void {
  const { unit } = scope;
  const drafts = new Map<string, Draft>();
  const result = unit.kind === "procedure" && unit.form === "function" ? (unit.result ?? unit.name) : undefined;
  const draft = (name: string, at: Location): Draft => {
    const found = drafts.get(name) ?? { name, attributes: new Set<string>(), at };
    drafts.set(name, found);
    return found;
  };
  for (const declaration of unit.declarations) {
    if (declaration.kind === "variables")
      for (const { name, dimension, init, at } of declaration.names) {
        const made = draft(name, at);
        Object.assign(made, { spec: declaration.type, at });
        made.dims ??= dimension ?? declaration.dimension;
        if (init) made.value = init;
        for (const attribute of declaration.attributes) made.attributes.add(attribute);
      }
    if (declaration.kind === "attributes")
      for (const { name, dimension, init, at } of declaration.names) {
        const made = draft(name, at);
        if (declaration.attribute === "dimension") made.dims = dimension;
        else made.attributes.add(declaration.attribute);
        if (init) made.value = init;
      }
  }
  for (const declaration of unit.declarations) {
    if (declaration.kind === "attributes" && declaration.attribute === "save" && declaration.names.length === 0)
      for (const made of drafts.values()) if (made.name !== result) made.attributes.add("save");
    if (declaration.kind !== "other") continue;
    const [, word, rest] = /^(data|common|equivalence)\b(.*)$/is.exec(declaration.text) ?? [];
    // Between slashes stand values, or a block's name.
    for (const name of rest?.replace(/\/[^/]*\//g, " ").match(/\b[a-z]\w*/gi) ?? [])
      drafts.get(name.toLowerCase())?.attributes.add(word.toLowerCase());
  }
  const dummies = new Set(unit.kind === "procedure" ? unit.dummies : []);
  if (unit.kind === "procedure" && result !== undefined) draft(result, unit.at).spec ??= unit.type;
  for (const made of drafts.values()) {
    const procedure = scope.procedures.get(made.name)?.unit;
    if (procedure?.kind === "procedure" && procedure.ofStatement) continue;
    if (!made.spec) {
      if (procedure) continue;
      scope.world.problems.add(made.at, made.name, "it has no type", `declare it, such as real(8) :: ${made.name}`);
      continue;
    }
    const declared = variable(scope, made as Draft & { spec: TypeSpec }, dummies.has(made.name));
    scope.variables.set(made.name, declared);
    if (!dependsOnItself(declared)) continue;
    scope.world.problems.add(made.at, made.name, "its value depends on itself", "give it a number");
    const { value: _, ...rest } = declared;
    scope.variables.set(made.name, rest);
  }
  for (const name of dummies)
    if (!scope.variables.has(name)) scope.world.problems.add(unit.at, name, "a dummy argument without a declaration", "declare its type");
}

/** What variables cannot be, and why. */
const REFUSED: Readonly<Record<string, { readonly why: string; readonly remedy: string }>> = {
  pointer: { why: "only pointers to arrays are read", remedy: "use the variable itself" },
  shared: { why: "kernels alone declare what a block shares", remedy: "declare it in attributes(global), and pass it" },
  data: { why: "values of `data` are not read", remedy: "give them in the declaration" },
  common: { why: "blocks of memory are not read", remedy: "put it into a module" },
  equivalence: { why: "two names for one memory are not read", remedy: "use one of them" },
};

/** Whether a constant's value leads back to it, `a = b, b = a`. */
function dependsOnItself(declared: Variable): boolean {
  const seen = new Set<Variable>();
  const reaches = ({ value, scope }: Variable): boolean =>
    value !== undefined &&
    [...namesOf(value)].some((name) => {
      const other = find(scope, name);
      if (!other || seen.has(other)) return false;
      seen.add(other);
      return other === declared || reaches(other);
    });
  return reaches(declared);
}

function variable(scope: Scope, { name, spec, dims, attributes, value, at }: Draft & { spec: TypeSpec }, dummy: boolean): Variable {
  const typed = typeOf(scope, spec);
  const isAlias = dims?.every(({ assumed }) => assumed);
  const [word, reason] = Object.entries(REFUSED).find(([each]) => attributes.has(each) && !(each === "pointer" && isAlias)) ?? [];
  const refused = reason ? { construct: `${word} :: ${name}`, ...reason } : typed.refused;
  return {
    name,
    type: typed.type,
    ...(refused && { refused }),
    ...(typed.wide && !reason && !dims?.length && { wide: true }),
    ...(typed.byte && !reason && { byte: true }),
    ...(spec.derived && { derived: spec.derived }),
    ...(dims && dims.length > 0 && { dims }),
    attributes,
    dummy,
    ...(value && (isConstant(scope, name, attributes) ? { value } : { initial: value })),
    scope,
    at,
  };
}

/** Whether a variable of a procedure is the same one in all calls. */
export const isSaved = ({ value, initial, attributes, dummy, component }: Variable): boolean =>
  !dummy && value === undefined && ((initial !== undefined && component === undefined) || attributes.has("save"));

/** Other files may assign a module's variables. */
const isConstant = ({ unit }: Scope, name: string, attributes: ReadonlySet<string>): boolean =>
  attributes.has("parameter") || (unit.kind !== "module" && !attributes.has("pointer") && !mayChange(unit, name));

export const isStreamKind = ({ kindOf }: Pick<TypeSpec, "kindOf">): boolean =>
  kindOf?.kind === "name" && kindOf.name === "cuda_stream_kind";

/** The type of kernels' code for a declared one. */
export function typeOf(scope: Scope, { type, kindOf, derived }: TypeSpec): Pick<Variable, "type" | "refused" | "wide" | "byte"> {
  const refuse = (construct: string, why: string, remedy: string) => ({ type: "f64" as const, refused: { construct, why, remedy } });
  switch (type) {
    case "double precision":
      return { type: "f64" };
    case "real": {
      const bytes = kindOf ? kindBytes(scope, kindOf) : 4;
      return bytes === 8
        ? { type: "f64" }
        : bytes === 4
          ? { type: "f32" }
          : refuse(
              `real of kind ${bytes ?? "unknown"}`,
              "kernels compute with 4 and 8 bytes",
              'take real(4) or real(8), or give the kind\'s module or kinds: { name: "f64" }',
            );
    }
    case "integer": {
      const bytes = kindOf && !isStreamKind({ kindOf }) ? kindBytes(scope, kindOf) : 4;
      return bytes === 4
        ? { type: "i32" }
        : {
            type: "i32",
            ...(bytes === 8 && { wide: true }),
            ...(bytes === 1 && { byte: true }),
            refused: {
              construct: `integer of kind ${bytes ?? "unknown"}`,
              why: "kernels have integers of 32 bits",
              remedy: "take integer(4)",
            },
          };
    }
    case "logical":
      return { type: "bool" };
    case "complex":
      return refuse("complex", "kernels have no complex numbers", "take two reals");
    case "character":
      return refuse("character", "kernels have no text", "leave it on the host");
    case "derived":
      return refuse(`type(${derived})`, "a whole object has no place in a kernel", "use its components one by one");
    default:
      return unreachable(type);
  }
}

/** The bytes of a kind; undefined where it cannot be known. */
export function kindBytes(scope: Scope, e: Expr): number | undefined {
  if (e.kind === "name") {
    const wished = scope.world.kinds[e.name];
    if (wished) return wished === "f64" ? 8 : 4;
    const found = find(scope, e.name);
    if (found?.value) return kindBytes(found.scope, found.value);
    return own(KINDS, original(scope, e.name) ?? e.name);
  }
  if (e.kind === "literal" && e.type === "integer") return Number(e.text);
  if (e.kind === "group") return kindBytes(scope, e.a);
  if (e.kind === "apply" && e.base.kind === "name") {
    const [arg] = e.args;
    const value = arg?.kind === "value" ? arg.value : undefined;
    if (e.base.name === "kind" && value?.kind === "literal")
      return value.suffix ? suffixBytes(scope, value.suffix) : value.type === "real" && /d/i.test(value.text) ? 8 : 4;
    const digits = value?.kind === "literal" ? Number(value.text) : NaN;
    if (e.base.name === "selected_real_kind") return digits <= 6 ? 4 : digits <= 15 ? 8 : 16;
    if (e.base.name === "selected_int_kind") return digits <= 2 ? 1 : digits <= 4 ? 2 : digits <= 9 ? 4 : 8;
  }
  return undefined;
}

/** Of a literal's kind: `rkind` or digits. */
export const suffixBytes = (scope: Scope, suffix: string): number | undefined =>
  /^\d+$/.test(suffix) ? Number(suffix) : kindBytes(scope, { kind: "name", name: suffix, at: scope.unit.at });

/** What a name is called in the module that it comes from, where `use` renames it. */
function original(scope: Scope, name: string): string | undefined {
  for (let at: Scope | undefined = scope; at; at = at.parent)
    for (const use of at.unit.uses)
      for (const renamed of [...(use.only ?? []), ...use.renames]) if (renamed.name === name) return renamed.original;
  return undefined;
}

/** What one scope and its hosts know by a name, through what they use. */
function lookUp<T>(scope: Scope, name: string, own: (scope: Scope, name: string) => T | undefined, seen = new Set<Scope>()): T | undefined {
  if (seen.has(scope)) return undefined;
  seen.add(scope);
  const here = own(scope, name);
  if (here !== undefined) return here;
  for (const use of scope.unit.uses) {
    const module = scope.world.modules.get(use.module);
    if (!module) continue;
    const renamed = [...(use.only ?? []), ...use.renames].find((entry) => entry.name === name);
    if (use.only && !renamed) continue;
    const found = lookUp(module, renamed?.original ?? name, own, seen);
    if (found !== undefined) return found;
  }
  return scope.parent && lookUp(scope.parent, name, own, seen);
}

export const find = (scope: Scope, name: string): Variable | undefined => lookUp(scope, name, (at, wanted) => at.variables.get(wanted));

export const findProcedure = (scope: Scope, name: string): Scope | undefined =>
  lookUp(scope, name, (at, wanted) => at.procedures.get(wanted)) ?? scope.world.external.get(name);

const SEEN = new WeakMap<Scope, ReadonlyMap<string, Procedure>>();

/** All procedures that a scope may call. */
export function proceduresSeen(scope: Scope): ReadonlyMap<string, Procedure> {
  let seen = SEEN.get(scope);
  if (!seen) {
    const names = [...scope.world.external.keys(), ...scope.world.scopes.flatMap((other) => [...other.procedures.keys()])];
    const found = new Map<string, Procedure>();
    for (const name of names) {
      const unit = findProcedure(scope, name)?.unit;
      if (unit?.kind === "procedure") found.set(name, unit);
    }
    SEEN.set(scope, (seen = found));
  }
  return seen;
}

const findType = (scope: Scope, name: string): { type: TypeDefinition; scope: Scope } | undefined =>
  lookUp(scope, name, (at, wanted) => {
    const type = at.types.get(wanted);
    return type && { type, scope: at };
  });

/** The three sizes of `dim3(a, b)` or of a variable of this type; undefined of anything else. */
export function dim3Parts(scope: Scope, e: Expr): Expr[] | undefined {
  const { at } = e;
  if (e.kind === "name") {
    const variable = find(scope, e.name);
    if (variable?.derived !== "dim3") return undefined;
    if (variable.value) return dim3Parts(variable.scope, variable.value);
    return ["x", "y", "z"].map((name): Expr => ({ kind: "part", base: e, name, at }));
  }
  if (e.kind !== "apply" || e.base.kind !== "name" || e.base.name !== "dim3") return undefined;
  const one: Expr = { kind: "literal", type: "integer", text: "1", at };
  return [0, 1, 2].map((n) => {
    const arg = e.args[n];
    return arg?.kind === "value" ? arg.value : one;
  });
}
/** The variable that a name or a component is. */
export const variableOf = (scope: Scope, e: Expr): Variable | undefined =>
  e.kind === "name" ? find(scope, e.name) : e.kind === "part" ? findPart(scope, e) : undefined;

/** A component as a variable of its own, `p%nx` as `p_nx`; undefined where its type is not known. */
function findPart(scope: Scope, part: Part): Variable | undefined {
  const { base } = part;
  const of = variableOf(scope, base);
  // Of an array of objects, no one is meant.
  if (of?.dims) return undefined;
  const size = of?.derived === "dim3" ? ["x", "y", "z"].indexOf(part.name) : -1;
  if (of && size >= 0) {
    const [value, initial] = [of.value, of.initial].map((e) => e && dim3Parts(of.scope, e)?.[size]);
    const { dummy, scope, at } = of;
    return {
      name: `${of.name}_${part.name}`,
      type: "i32",
      attributes: new Set(),
      dummy,
      scope,
      at,
      ...(value && { value }),
      ...(initial && { initial }),
    };
  }
  const known = of?.derived === undefined ? undefined : findType(of.scope, of.derived);
  if (!of || !known) return undefined;
  const has = (line: VariableDeclaration) => line.names.find(({ name }) => name === part.name);
  const line = known.type.components.find(has);
  if (!line) return undefined;
  const { dimension, at } = has(line)!;
  const attributes = new Set([...line.attributes].filter((attribute) => attribute !== "pointer" && attribute !== "allocatable"));
  // Its memory is that of the object.
  for (const attribute of OF_OBJECTS) if (of.attributes.has(attribute)) attributes.add(attribute);
  const made = { name: `${of.name}_${part.name}`, spec: line.type, dims: dimension ?? line.dimension, attributes, at };
  return {
    // Bounds may name what the type's own scope knows; those of `allocatable` components come with the array.
    ...variable(known.scope, made, of.dummy),
    ...beginningOf(of, known.type, has(line)!, dimension ?? line.dimension),
    component: `${known.scope.unit.name} ${known.type.name}%${part.name}`,
    owner: of.owner ?? of.scope,
  };
}

const OF_OBJECTS = ["device", "managed", "save", "value", "intent(out)"];

/** What a component begins with: by the value of its object, `t(1, x=2)`, or by its type. */
function beginningOf(
  of: Variable,
  { name: type, components }: TypeDefinition,
  { name, init, points }: DeclaredName,
  dims: unknown,
): Partial<Variable> {
  const whole = of.value ?? of.initial;
  const keeps = of.scope.unit.kind === "procedure" && (of.initial !== undefined || of.attributes.has("save"));
  const refuse = (): Partial<Variable> => ({
    ...(init && { initial: init }),
    refused: {
      construct: `${of.name}%${name}`,
      why: "the values that objects begin with are read of scalars alone, and those of procedures are not kept",
      remedy: "assign its components",
    },
  });
  if (keeps) return refuse();
  if (whole) {
    if (dims || whole.kind !== "apply" || nameOf(whole) !== type) return refuse();
    const place = components.flatMap(({ names }) => names).findIndex((each) => each.name === name);
    const arg = whole.args.find((each, n) => each.kind === "value" && (each.keyword ?? n) === (each.keyword ? name : place));
    if (arg?.kind === "value") return { [of.value ? "value" : "initial"]: arg.value, scope: of.scope };
    if (!init) return refuse();
  }
  if (!init || points) return {};
  const isOut = of.attributes.has("intent(out)");
  if (of.dummy && !isOut) return {};
  // Arrays begin with 0.
  if (dims) return !isOut && Number(init.kind === "literal" ? init.text.replace(/d/i, "e") : NaN) === 0 ? {} : refuse();
  return { initial: init };
}

/** Where a variable, or the object that it is part of, is declared. */
export const ownerOf = ({ owner, scope }: Variable): Scope => owner ?? scope;

/** The components of an object, `p%x` of `p`; undefined of other variables. */
export function componentsOf(scope: Scope, object: Name | Part): Part[] | undefined {
  const of = variableOf(scope, object);
  if (of?.derived === "dim3") return ["x", "y", "z"].map((name) => ({ kind: "part", base: object, name, at: object.at }));
  const known = of?.derived === undefined || of.dims ? undefined : findType(of.scope, of.derived);
  return known?.type.components.flatMap(({ names }) => names.map(({ name, at }) => ({ kind: "part", base: object, name, at })));
}

/** Its components, and theirs; those of a type within itself, as in lists, once. */
export function partsOf(scope: Scope, object: Name | Part, around: readonly string[] = []): Part[] {
  const type = variableOf(scope, object)?.derived;
  if (type === undefined || around.includes(type)) return [];
  return (componentsOf(scope, object) ?? []).flatMap((part) => [part, ...partsOf(scope, part, [...around, type])]);
}

/** What a variable or a component, `p_nx`, is a designator of. */
export function designatorOf(scope: Scope, name: string, at: Location): Name | Part {
  if (!find(scope, name))
    for (let end = name.indexOf("_", 1); end > 0; end = name.indexOf("_", end + 1)) {
      const found = componentIn(scope, { kind: "name", name: name.slice(0, end), at }, name);
      if (found) return found;
    }
  return { kind: "name", name, at };
}

function componentIn(scope: Scope, object: Name | Part, name: string): Part | undefined {
  for (const part of componentsOf(scope, object) ?? []) {
    const found = nameOf(part) === name ? part : name.startsWith(`${nameOf(part)}_`) ? componentIn(scope, part, name) : undefined;
    if (found) return found;
  }
  return undefined;
}

/** A variable or a component by its name, `p_nx`. */
export const findNamed = (scope: Scope, name: string): Variable | undefined => variableOf(scope, designatorOf(scope, name, scope.unit.at));
