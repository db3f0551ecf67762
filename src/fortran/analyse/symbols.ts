import { own } from "../../base/own.js";
import { unreachable } from "../../base/unreachable.js";
import type { Location } from "../../ir/types.js";
import type { Problems } from "../errors.js";
import type {
  Bound,
  DeclaredName,
  Expr,
  Name,
  ComponentRef,
  SourceFile,
  TypeDefinition,
  TypeSpec,
  VariableDeclaration,
} from "../tree/index.js";
import { withoutBlocks } from "./blocks.js";
import { besideComponents } from "./component-names.js";
import type { Procedures } from "./flow.js";
import { constantBounds, declareData } from "./data.js";
import { mayChange } from "./initial.js";
import type { UnitScope, Variable, World } from "./scope.js";
import { bindingsOf } from "./visible.js";
import { variableName, visitExpr } from "./walk.js";

/* Names and what they stand for: variables with their types and bounds, procedures, derived types, over modules and what they use. */

export type { UnitScope, Variable, World } from "./scope.js";

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
      if (isBroken(unit) || (unit.kind === "module" && unit.ancestor)) continue;
      const scope = scopeOf(unit, file, undefined, world);
      if (unit.kind === "module") world.modules.set(unit.name, scope);
      else if (unit.kind === "procedure") world.external.set(unit.name, scope);
    }
  addSubmodules(files, world);
  const declared = new Set<UnitScope>();
  // Kinds and bounds may stand in modules that come later: what a scope uses is declared before it.
  const declare = (scope: UnitScope | undefined): void => {
    if (!scope || declared.has(scope)) return;
    declared.add(scope);
    declare(scope.parent);
    for (const { module } of scope.unit.uses) declare(world.modules.get(module));
    declareAll(scope);
  };
  world.scopes.forEach(declare);
  return world;
}

/** Adds submodules as if they were in their parent; their procedures belong to the scope whose interface declares them. */
function addSubmodules(files: readonly SourceFile[], world: World): void {
  const left = new Set(
    files.flatMap(({ file, units }) => units.flatMap((unit) => (unit.kind === "module" && unit.ancestor ? [{ file, unit }] : []))),
  );
  const made = new Map<string, UnitScope>();
  for (let count = -1; count !== left.size;) {
    count = left.size;
    for (const each of left) {
      const { module, parent } = each.unit.ancestor!;
      const around = parent === undefined ? world.modules.get(module) : made.get(`${module}:${parent}`);
      if (!around) continue;
      left.delete(each);
      const scope = scopeOf(each.unit, each.file, around, world);
      made.set(`${module}:${each.unit.name}`, scope);
      for (const [name, procedure] of scope.procedures) {
        if (procedure.unit.kind !== "procedure" || !procedure.unit.prefixes.includes("module")) continue;
        for (let at: UnitScope | undefined = around; at; at = at.parent) if (at.interfaces.has(name)) at.procedures.set(name, procedure);
      }
    }
  }
  for (const { unit } of left)
    world.problems.add(
      unit.at,
      `submodule ${unit.name}`,
      `the module ${unit.ancestor!.module} or its parent is in none of the files given`,
      "give their files",
    );
}

/** Skips a routine with statements that could not be read. */
const isBroken = (unit: UnitScope["unit"]): boolean => unit.kind !== "module" && unit.broken === true;

function scopeOf(written: UnitScope["unit"], file: string, parent: UnitScope | undefined, world: World): UnitScope {
  const unit = besideComponents(withoutBlocks(written));
  const scope: UnitScope = {
    unit,
    file,
    parent,
    variables: new Map(),
    procedures: new Map(),
    types: new Map(),
    interfaces: new Map(),
    world,
  };
  world.scopes.push(scope);
  for (const inner of unit.procedures) if (!isBroken(inner)) scope.procedures.set(inner.name, scopeOf(inner, file, scope, world));
  for (const declaration of unit.declarations) {
    if (declaration.kind === "type") scope.types.set(declaration.name, declaration);
    if (declaration.kind !== "interface") continue;
    const { generic, specifics = [], bodies = [] } = declaration;
    for (const body of bodies) if (!scope.interfaces.has(body)) scope.interfaces.set(body, [body]);
    if (generic !== undefined)
      scope.interfaces.set(generic, [...new Set([...(scope.interfaces.get(generic) ?? []), ...specifics, ...bodies])]);
  }
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

function declareAll(scope: UnitScope): void {
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
    if (declaration.kind !== "other" || declaration.data) continue;
    for (const { name, dimension, at } of (declaration.common ?? []).flatMap(({ names }) => names)) {
      draft(name, at).attributes.add("common");
      if (dimension) draft(name, at).dims = dimension;
    }
    const [, word, rest] = /^(data|equivalence)\b(.*)$/is.exec(declaration.text) ?? [];
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
  declareData(scope, (name) => isConstant(scope, name, scope.variables.get(name)!.attributes));
  for (const name of dummies)
    if (!scope.variables.has(name)) scope.world.problems.add(unit.at, name, "a dummy argument without a declaration", "declare its type");
}

/** Variables that are not supported, and why. */
const REFUSED: Readonly<Record<string, { readonly why: string; readonly remedy: string }>> = {
  pointer: { why: "only pointers to arrays are supported", remedy: "use the variable itself" },
  shared: { why: "only kernels can declare shared memory", remedy: "declare it in an attributes(global) procedure, and pass it" },
  data: { why: "its `data` statement cannot be read", remedy: "give the values in the declaration" },
  common: {
    why: "its common block is laid out in different ways, or its bounds or values are not constants",
    remedy: "declare the block alike everywhere, or put it into a module",
  },
  equivalence: { why: "two names for the same memory are not supported", remedy: "use one of the names" },
};

/** Whether a constant's value leads back to it, `a = b, b = a`. */
function dependsOnItself(declared: Variable): boolean {
  const seen = new Set<Variable>();
  const reaches = ({ value, scope }: Variable): boolean =>
    value !== undefined &&
    [...valuesIn(value)].some((name) => {
      const other = find(scope, name);
      if (!other || seen.has(other)) return false;
      seen.add(other);
      return other === declared || reaches(other);
    });
  return reaches(declared);
}

const INQUIRES: readonly string[] = ["shape", "size", "lbound", "ubound", "kind"];

/** Names in an expression whose values count, not only their bounds or kinds. */
function valuesIn(e: Expr): Set<string> {
  const found = new Set<string>();
  visitExpr(e, (node) => {
    if (node.kind === "apply" && node.base.kind === "name" && INQUIRES.includes(node.base.name)) return false;
    if (node.kind === "name") found.add(node.name);
    return undefined;
  });
  return found;
}

function variable(scope: UnitScope, { name, spec, dims, attributes, value, at }: Draft & { spec: TypeSpec }, dummy: boolean): Variable {
  const typed = typeOf(scope, spec);
  const isAlias = dims?.every(({ assumed }) => assumed);
  const [word, reason] = Object.entries(REFUSED).find(([each]) => attributes.has(each) && !(each === "pointer" && isAlias)) ?? [];
  const refused = reason ? { construct: `${word} :: ${name}`, ...reason } : typed.refused;
  return {
    name,
    type: typed.type,
    ...(refused && { refused }),
    ...(typed.complex && !reason && { complex: true }),
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
const isConstant = ({ unit }: UnitScope, name: string, attributes: ReadonlySet<string>): boolean =>
  attributes.has("parameter") || (unit.kind !== "module" && !attributes.has("pointer") && !mayChange(unit, name));

export const isStreamKind = ({ kindOf }: Pick<TypeSpec, "kindOf">): boolean =>
  kindOf?.kind === "name" && kindOf.name === "cuda_stream_kind";

/** The type of kernels' code for a declared one. */
export function typeOf(
  scope: UnitScope,
  { type, kindOf, derived, text }: TypeSpec,
): Pick<Variable, "type" | "refused" | "complex" | "wide" | "byte"> {
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
              "kernels have reals of 4 and 8 bytes only",
              'use real(4) or real(8), or give the kind\'s module or kinds: { name: "f64" }',
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
              why: "kernels have 32-bit integers only",
              remedy: "take integer(4)",
            },
          };
    }
    case "logical":
      return { type: "bool" };
    case "complex":
    case "double complex":
      return { ...refuse(text, "complex numbers are not supported here", "use two reals"), ...complexOf(scope, { type, kindOf, text }) };
    case "character":
      return refuse("character", "kernels have no character strings", "keep it on the host");
    case "derived":
      return refuse(`type(${derived})`, "kernels cannot use a whole object", "use its components one by one");
    default:
      return unreachable(type);
  }
}

/** The type of both reals: `complex*16` counts the bytes of both. */
function complexOf(scope: UnitScope, { type, kindOf, text }: Omit<TypeSpec, "at">): Pick<Variable, "type" | "complex"> {
  const bytes = type === "double complex" ? 8 : kindOf ? kindBytes(scope, kindOf) : 4;
  return { type: (bytes !== undefined && text.includes("*") ? bytes / 2 : bytes) === 4 ? "f32" : "f64", complex: true };
}

/** The bytes of a kind; undefined if it cannot be known. */
export function kindBytes(scope: UnitScope, e: Expr): number | undefined {
  if (e.kind === "name") {
    const [binding] = bindingsOf(scope, e.name);
    const wished = own(scope.world.kinds, e.name) ?? (binding && own(scope.world.kinds, binding.name));
    if (wished) return wished === "f64" ? 8 : 4;
    const found = find(scope, e.name);
    if (found?.value) return kindBytes(found.scope, found.value);
    return binding?.scope ? undefined : own(KINDS, binding?.name ?? e.name);
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

/** Bytes of a literal's kind: `rkind` or digits. */
export const suffixBytes = (scope: UnitScope, suffix: string): number | undefined =>
  /^\d+$/.test(suffix) ? Number(suffix) : kindBytes(scope, { kind: "name", name: suffix, at: scope.unit.at });

/** Entity that a name stands for; an unusable variable where modules have different ones of this name. */
export function find(scope: UnitScope, name: string): Variable | undefined {
  const found = bindingsOf(scope, name);
  const variable = found[0]?.scope?.variables.get(found[0].name);
  if (!variable || found.length === 1) return variable;
  const { value: _, initial: __, ...rest } = variable;
  const why = `the modules ${found.map(({ module }) => module).join(" and ")} both define it`;
  return { ...rest, refused: { construct: name, why, remedy: "list the one that you mean after `only`, or rename the other" } };
}

/** The procedures that a generic name may mean; none if one of them is unknown, and for other names. */
export function specificsOf(scope: UnitScope, name: string): UnitScope[] {
  const made = new Set<UnitScope>();
  for (const { scope: of, name: there } of bindingsOf(scope, name)) {
    const names = of?.interfaces.get(there) ?? [];
    for (const each of names) {
      const procedure = each === there ? of!.procedures.get(each) : findProcedure(of!, each);
      if (!procedure) return [];
      made.add(procedure);
    }
  }
  return [...made];
}

/** Procedure of a name, or of `module::name`. A name with only a type is a function outside of modules. */
export function findProcedure(scope: UnitScope, name: string): UnitScope | undefined {
  const [module, inside] = name.split("::");
  if (inside !== undefined) return scope.world.modules.get(module)?.procedures.get(inside);
  const [found, ...more] = bindingsOf(scope, name);
  const { external } = scope.world;
  if (!found) return external.get(name);
  if (!found.scope || more.length > 0) return undefined;
  const { variables, procedures, interfaces } = found.scope;
  const variable = variables.get(found.name);
  const meant = interfaces.get(found.name);
  if (meant && meant.length !== 1) return undefined;
  if (meant && meant[0] !== found.name) return findProcedure(found.scope, meant[0]);
  return procedures.get(found.name) ?? (meant || (variable && !variable.dims && !variable.dummy) ? external.get(found.name) : undefined);
}

export const NOT_KNOWN = { why: "the procedure is unknown", remedy: "give the file that defines it" };

/** Why no procedure is found by a name that is known; undefined if it is not. */
export function procedureProblem(scope: UnitScope, name: string): { readonly why: string; readonly remedy: string } | undefined {
  const found = bindingsOf(scope, name);
  const generic = found.flatMap(({ scope: of, name: there }) => of?.interfaces.get(there) ?? []);
  if (generic.length > 1)
    return {
      why: "the types of the arguments decide which procedure is meant, and they are not certain here",
      remedy: `call a procedure by its own name: ${generic.join(", ")}`,
    };
  if (found.length > 1)
    return {
      why: `the modules ${found.map(({ module }) => module).join(" and ")} both define it`,
      remedy: "list the one that you mean after `only`, or rename the other",
    };
  return undefined;
}

const SEEN = new WeakMap<UnitScope, Procedures>();

/** All procedures that a scope may call. */
export function proceduresSeen(scope: UnitScope): Procedures {
  const known = SEEN.get(scope);
  if (known) return known;
  const made: Procedures = {
    get(name) {
      const found = find(scope, name)?.dims ? undefined : findProcedure(scope, name);
      if (found?.unit.kind !== "procedure") return undefined;
      return { procedure: found.unit, procedures: proceduresSeen(found), seen: (other) => sharedName(scope, found, other) };
    },
  };
  SEEN.set(scope, made);
  return made;
}

/** Name that a scope has for a variable of others in a procedure that it calls: `module::name` where it has none. */
function sharedName(scope: UnitScope, called: UnitScope, name: string): string | undefined {
  const [module, own] = name.split("::");
  const variable = own === undefined ? findNamed(called, name) : scope.world.modules.get(module)?.variables.get(own);
  if (!variable || variable.component || ownerOf(variable) === called) return undefined;
  const owner = ownerOf(variable);
  const here = findNamed(scope, variable.name);
  if (here && here.name === variable.name && ownerOf(here) === owner) return variable.name;
  return owner.unit.kind === "module" ? `${owner.unit.name}::${variable.name}` : undefined;
}

function findType(scope: UnitScope, name: string): { type: TypeDefinition; scope: UnitScope } | undefined {
  const [found, ...more] = bindingsOf(scope, name);
  const type = more.length > 0 ? undefined : found?.scope?.types.get(found.name);
  return type && { type, scope: found.scope! };
}

/** A type and the types that it extends, each with the scope that defines it. */
export function ancestry(scope: UnitScope, name: string): { type: TypeDefinition; scope: UnitScope }[] {
  const found: { type: TypeDefinition; scope: UnitScope }[] = [];
  for (let at = findType(scope, name); at; at = at.type.parent === undefined ? undefined : findType(at.scope, at.type.parent)) {
    if (found.some(({ type }) => type === at!.type)) break;
    found.push(at);
  }
  return found;
}

/** The three sizes of `dim3(a, b)` or of a variable of this type; undefined of anything else. */
export function dim3Parts(scope: UnitScope, e: Expr): Expr[] | undefined {
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
export const namedVariable = (scope: UnitScope, e: Expr): Variable | undefined =>
  e.kind === "name" ? find(scope, e.name) : e.kind === "part" ? findPart(scope, e) : undefined;

/** A component as a variable of its own, `p%nx` as `p_nx`; undefined if its type is not known. Of an array of objects, it is an array. */
function findPart(scope: UnitScope, part: ComponentRef): Variable | undefined {
  const isElement = part.base.kind === "apply";
  const of = namedVariable(scope, part.base.kind === "apply" ? part.base.base : part.base);
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
  if (of?.derived === undefined) return undefined;
  const has = (line: VariableDeclaration) => line.names.find(({ name }) => name === part.name);
  const known = ancestry(of.scope, of.derived).find(({ type }) => type.components.some(has));
  if (!known) return undefined;
  const line = known.type.components.find(has)!;
  const { dimension, at } = has(line)!;
  const dims = dimension ?? line.dimension;
  const attributes = new Set([...line.attributes].filter((attribute) => attribute !== "pointer" && attribute !== "allocatable"));
  // Takes the memory attributes of the object.
  for (const attribute of OF_OBJECTS) if (of.attributes.has(attribute)) attributes.add(attribute);
  const made = { name: `${of.name}_${part.name}`, spec: line.type, dims, attributes, at };
  const component: Variable = {
    // Resolves bounds by names of the type's own scope; bounds of `allocatable` components come with the array.
    ...variable(known.scope, made, of.dummy),
    ...beginningOf(of, known.type, has(line)!, dims),
    component: `${known.scope.unit.name} ${known.type.name}%${part.name}`,
    owner: of.owner ?? of.scope,
  };
  if (!of.dims) return component;
  if (!isElement) return ofAllObjects(component, of as Variable & { dims: readonly Bound[] });
  // Code from the tree as it is written takes no element of one for a variable (analyse/objects).
  const refused = { construct: made.name, why: "arrays of objects are not supported here", remedy: "make each component an array" };
  return { ...component, ofElement: true, refused: component.refused ?? refused };
}

/** A component of all objects of an array, as one array: its own axes come first, as in memory. */
function ofAllObjects(component: Variable, objects: Variable & { dims: readonly Bound[] }): Variable {
  const fixed = (of: Variable): readonly Bound[] | undefined => constantBounds(of.scope, of.dims ?? []);
  const own = fixed(component);
  // Bounds of a component of an object are constants of another scope, or come with the array.
  const isOfOwnScope = objects.component === undefined || objects.objects || objects.dims.every(({ lower, upper }) => !lower && !upper);
  const around = isOfOwnScope ? objects.dims : fixed(objects);
  const refuse = (why: string, remedy: string): Variable => ({
    ...component,
    dims: [...(component.dims ?? []), ...objects.dims],
    objects,
    refused: { construct: `${objects.name}%${component.name.slice(objects.name.length + 1)}`, why, remedy },
  });
  if (!own || !around)
    return refuse("each object of the array may have an array of another size", "give the component constant bounds, or use an array");
  const { initial } = component;
  if (initial && (initial.kind !== "literal" || own.length > 0))
    return refuse("initial values of arrays of objects have to be numbers", "assign the component");
  return { ...component, dims: [...own, ...around], scope: objects.scope, objects };
}

const OF_OBJECTS = ["device", "managed", "save", "value", "intent(out)"];

/** Initial value of a component: from its object's value, `t(1, x=2)`, or from its type. */
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
      why: "initial values are supported for scalar objects only, and not for objects of a procedure that keep their values",
      remedy: "assign its components",
    },
  });
  if (keeps) return refuse();
  if (whole) {
    if (dims || whole.kind !== "apply" || variableName(whole) !== type) return refuse();
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

/** The type of the object that an expression designates, and the scope that defines it. */
export function findTypeNamed(scope: UnitScope, e: Expr): ReturnType<typeof findType> {
  const of = e.kind === "apply" ? namedVariable(scope, e.base) : namedVariable(scope, e);
  return of?.derived === undefined ? undefined : findType(of.scope, of.derived);
}

/** The components of a type, in order; undefined if one is a pointer or has no constant size. */
export function fixedComponents(
  { components, parent }: TypeDefinition,
  scope: UnitScope,
): { readonly name: string; readonly derived?: string; readonly rank: number }[] | undefined {
  if (parent !== undefined) return undefined;
  const found = components.flatMap(({ names, dimension, attributes, type: { derived } }) =>
    names.map((each) => {
      const dims = each.dimension ?? dimension ?? [];
      const isFixed = !attributes.includes("pointer") && !attributes.includes("allocatable") && constantBounds(scope, dims) !== undefined;
      return isFixed ? { name: each.name, ...(derived !== undefined && { derived }), rank: dims.length } : undefined;
    }),
  );
  return found.every((each) => each !== undefined) ? found : undefined;
}

/** Scope in which a variable, or the object that it is part of, is declared. */
export const ownerOf = ({ owner, scope }: Variable): UnitScope => owner ?? scope;

/** The components of an object, `p%x` of `p`; undefined of other variables. */
function componentsOf(scope: UnitScope, object: Name | ComponentRef): ComponentRef[] | undefined {
  const of = namedVariable(scope, object);
  if (of?.derived === "dim3") return ["x", "y", "z"].map((name) => ({ kind: "part", base: object, name, at: object.at }));
  const known = of?.derived === undefined ? [] : ancestry(of.scope, of.derived).reverse();
  if (known.length === 0) return undefined;
  return known.flatMap(({ type }) =>
    type.components.flatMap(({ names }) => names.map(({ name, at }): ComponentRef => ({ kind: "part", base: object, name, at }))),
  );
}

/** Its components, and theirs; a type within itself, as in lists, only once. */
export function nestedComponents(scope: UnitScope, object: Name | ComponentRef, around: readonly string[] = []): ComponentRef[] {
  const type = namedVariable(scope, object)?.derived;
  if (type === undefined || around.includes(type)) return [];
  return (componentsOf(scope, object) ?? []).flatMap((part) => [part, ...nestedComponents(scope, part, [...around, type])]);
}

/** Designator of a variable or of a component, `p_nx`. */
export function designatorOf(scope: UnitScope, name: string, at: Location): Name | ComponentRef {
  if (!find(scope, name))
    for (let end = name.indexOf("_", 1); end > 0; end = name.indexOf("_", end + 1)) {
      const found = componentIn(scope, { kind: "name", name: name.slice(0, end), at }, name);
      if (found) return found;
    }
  return { kind: "name", name, at };
}

function componentIn(scope: UnitScope, object: Name | ComponentRef, name: string): ComponentRef | undefined {
  for (const part of componentsOf(scope, object) ?? []) {
    const found =
      variableName(part) === name ? part : name.startsWith(`${variableName(part)}_`) ? componentIn(scope, part, name) : undefined;
    if (found) return found;
  }
  return undefined;
}

/** A variable or a component by its name, `p_nx`. */
export const findNamed = (scope: UnitScope, name: string): Variable | undefined =>
  namedVariable(scope, designatorOf(scope, name, scope.unit.at));
