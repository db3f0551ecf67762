import { Problems } from "../errors.js";
import { unitKey } from "../tree/keys.js";
import type { DataSet, Declaration, DeclaredName, Module, OtherDeclaration, SourceFile, TypeSpec, Unit, Use } from "../tree/index.js";
import { constantBounds } from "./data.js";
import { kindBytes, readSymbols, typeOf, type UnitScope, type World } from "./symbols.js";
import { eachNode, rootOf, withParts } from "./visit.js";

/*
 * Common blocks as modules: if all units lay a block out alike, its variables move to a module `/block/`, which the units use by their own
 * names for them. Any other block stays, and its variables are refused where kernels need them.
 */

/** One variable of a block, as a unit declares it. */
interface Member {
  readonly name: string;
  readonly type: TypeSpec;
  readonly declared: DeclaredName;
  readonly attributes: readonly string[];
  /** Tells types, bounds and attributes apart. */
  readonly layout: string;
}

/** A block in one unit. */
interface Place {
  readonly unit: string;
  readonly members: readonly (Member | undefined)[];
}

/** A block that is laid out alike everywhere. */
interface Block {
  readonly module: string;
  readonly members: readonly Member[];
  readonly places: readonly Place[];
  readonly data: OtherDeclaration[];
}

type Common = OtherDeclaration & { readonly common: NonNullable<OtherDeclaration["common"]> };
const isCommon = (d: Declaration): d is Common => d.kind === "other" && d.common !== undefined;

/** The files with modules in place of common blocks; the same files if they have none. */
export function withoutCommons(files: readonly SourceFile[], kinds: World["kinds"]): readonly SourceFile[] {
  let hasBlocks = false;
  eachNode(
    files.map(({ units }) => units),
    (node) => void (hasBlocks ||= node.kind === "other" && isCommon(node as OtherDeclaration)),
  );
  if (!hasBlocks) return files;
  const { scopes } = readSymbols(files, kinds, new Problems());
  const blocks = [...placesOf(scopes)].flatMap(([name, places]) => blockOf(name, places) ?? []);
  const sound = blocks.filter((block) => scopes.every((scope) => takeData(scope, block, blocks)));
  const [first, ...others] = files.map((file) => ({ ...file, units: file.units.map((unit) => rewritten(unit, sound)) }));
  return [{ ...first, units: [...sound.map((block) => moduleOf(block, first.units[0]?.at)), ...first.units] }, ...others];
}

function placesOf(scopes: readonly UnitScope[]): Map<string, Place[]> {
  const found = new Map<string, Place[]>();
  for (const scope of scopes) {
    const own = new Map<string, (Member | undefined)[]>();
    for (const { name, names } of scope.unit.declarations.filter(isCommon).flatMap(({ common }) => common))
      own.set(name, [...(own.get(name) ?? []), ...names.map((each) => memberOf(scope, each.name))]);
    for (const [name, members] of own) found.set(name, [...(found.get(name) ?? []), { unit: unitKey(scope.unit), members }]);
  }
  return found;
}

/** A variable of a block with bounds and kind as numbers; undefined where these are not constant. */
function memberOf(scope: UnitScope, name: string): Member | undefined {
  const line = scope.unit.declarations.find((d) => d.kind === "variables" && d.names.some((each) => each.name === name));
  const variable = scope.variables.get(name);
  if (line?.kind !== "variables" || !variable || line.type.derived !== undefined) return undefined;
  const dims = constantBounds(scope, variable.dims ?? []);
  if (!dims) return undefined;
  const { kindOf, ...spec } = line.type;
  const bytes = kindOf && spec.type !== "character" ? kindBytes(scope, kindOf) : undefined;
  if (kindOf && spec.type !== "character" && bytes === undefined) return undefined;
  const at = line.at;
  const type: TypeSpec = bytes === undefined ? line.type : { ...spec, kindOf: { kind: "literal", type: "integer", text: `${bytes}`, at } };
  const attributes = [...variable.attributes].filter((word) => word !== "common" && word !== "save");
  const { refused: _, ...typed } = typeOf(scope, line.type);
  const text = spec.type === "character" ? spec.text.toLowerCase().replace(/\s/g, "") : "";
  const layout = JSON.stringify([typed, spec.type === "character", text, dims, attributes], (key, value: unknown) =>
    key === "at" ? undefined : value,
  );
  const declared = line.names.find((each) => each.name === name)!;
  return { name, type, declared: { ...declared, dimension: dims }, attributes, layout };
}

/** A block whose units agree; shorter ones have the first variables alone. */
function blockOf(name: string, places: readonly Place[]): Block | undefined {
  const [longest] = [...places].sort((a, b) => b.members.length - a.members.length);
  const members = longest.members.flatMap((member) => member ?? []);
  const isAlike = places.every((place) => place.members.every((member, n) => member && member.layout === members[n]?.layout));
  const isShared = members.some(({ attributes }) => attributes.includes("equivalence"));
  return isAlike && !isShared ? { module: `/${name}/`, members, places, data: [] } : undefined;
}

/** Name of a variable of a block by its name in a unit. */
function namesIn({ members, places }: Block, { unit }: UnitScope | { readonly unit: Unit }): Map<string, string> {
  const place = places.find((each) => each.unit === unitKey(unit));
  return new Map(place?.members.map((member, n) => [member!.name, members[n].name]));
}

const isData = (d: Declaration): d is OtherDeclaration & { readonly data: readonly DataSet[] } =>
  d.kind === "other" && d.data !== undefined;

/** Takes the values that a unit's `data` statements give to a block; false if they name anything else. */
function takeData(scope: UnitScope, block: Block, blocks: readonly Block[]): boolean {
  const names = namesIn(block, scope);
  if (names.size === 0) return true;
  const others = blocks.filter((each) => each !== block).map((each) => namesIn(each, scope));
  for (const declaration of scope.unit.declarations.filter(isData)) {
    const sets = declaration.data.filter((set) => rootsOf(set).some((name) => names.has(name)));
    for (const set of sets) {
      const loops = new Set<string>();
      const used = new Set<string>();
      eachNode(set, (node) => {
        if (node.kind === "data-loop") loops.add((node as unknown as { variable: string }).variable);
        if (node.kind === "name") used.add((node as unknown as { name: string }).name);
      });
      if ([...used].some((name) => !names.has(name) && !loops.has(name)) || others.some((other) => [...used].some((n) => other.has(n))))
        return false;
    }
    if (sets.length > 0) block.data.push({ ...declaration, data: sets.map((set) => withNames(set, names)) });
  }
  return true;
}

const rootsOf = ({ objects }: DataSet): string[] =>
  objects.flatMap((object) => (object.kind === "data-loop" ? rootsOf({ objects: object.items, values: [] }) : (rootOf(object) ?? [])));

function withNames<T>(tree: T, names: ReadonlyMap<string, string>): T {
  if (Array.isArray(tree)) return tree.map((item) => withNames<unknown>(item, names)) as T;
  if (tree === null || typeof tree !== "object") return tree;
  const node = tree as { kind?: string; name?: string };
  if (node.kind === "name" && names.has(node.name!)) return { ...tree, name: names.get(node.name!) };
  return withParts(tree, (part) => withNames(part, names));
}

function moduleOf({ module, members, data }: Block, at: Module["at"]): Module {
  const declarations = members.map((member): Declaration => ({
    kind: "variables",
    type: member.type,
    attributes: [...member.attributes],
    names: [member.declared],
    at: member.declared.at,
  }));
  return {
    kind: "module",
    name: module,
    uses: [],
    implicitNone: true,
    declarations: [...declarations, ...data],
    procedures: [],
    at,
    end: at,
  };
}

function rewritten<T extends Unit>(unit: T, blocks: readonly Block[]): T {
  const procedures = unit.procedures.map((procedure) => rewritten(procedure, blocks));
  const found = blocks.flatMap((block) => {
    const names = namesIn(block, { unit });
    return names.size > 0 ? [{ block, names }] : [];
  });
  if (found.length === 0) return { ...unit, procedures };
  const uses = found.map(({ block: { module }, names }): Use => {
    const only = [...names].map(([name, original]) => ({ name, original }));
    return { module, intrinsic: false, only, renames: [], at: unit.at };
  });
  const moved = new Set(found.flatMap(({ names }) => [...names.keys()]));
  const modules = new Set(found.map(({ block: { module } }) => module));
  const declarations = unit.declarations.flatMap((d): Declaration[] => {
    if (d.kind === "variables" || (d.kind === "attributes" && d.names.length > 0)) {
      const names = d.names.filter(({ name }) => !moved.has(name));
      return names.length > 0 ? [{ ...d, names }] : [];
    }
    if (isCommon(d)) return [{ ...d, common: d.common.filter(({ name }) => !modules.has(`/${name}/`)) }];
    return isData(d) ? [{ ...d, data: d.data.filter((set) => !rootsOf(set).some((name) => moved.has(name))) }] : [d];
  });
  return { ...unit, procedures, uses: [...unit.uses, ...uses], declarations };
}
