import { unreachable } from "../../base/unreachable.js";
import { readSymbols, type UnitScope, type World } from "../analyse/symbols.js";
import { eachNode } from "../analyse/visit.js";
import { Problems } from "../errors.js";
import { unitKey } from "../tree/keys.js";
import type {
  AttributeStatement,
  Bound,
  Constructor,
  DataSet,
  Declaration,
  DeclaredName,
  Expr,
  ImpliedDo,
  Name,
  Procedure,
  SourceFile,
  Stmt,
  TypeDefinition,
  TypeSpec,
  Unit,
  Use,
  VariableDeclaration,
} from "../tree/index.js";
import { partOf, realExpr, realType } from "./expressions.js";
import { applied, wholeLiteral } from "./nodes.js";
import { names, namesInText, statementsOf, type UnitPlace } from "./statements.js";
import { complexVariable, isComplex, isOtherFunction, isResult, type PairPlace } from "./types.js";

/*
 * Programs with pairs of reals in place of complex numbers: a scalar `z` becomes `z_re` and `z_im`, an array has its parts as the first axis, as they
 * stand in memory, and a function's result is an array.
 */

/** The files without complex numbers; the same files if they have none. */
export function withPairs(files: readonly SourceFile[], kinds: World["kinds"], problems: Problems): readonly SourceFile[] {
  if (!files.some(hasComplex)) return files;
  const world = readSymbols(files, kinds, new Problems());
  // Problems of clauses are added to the problems of the run.
  Object.assign(world, { problems });
  const scopes = new Map(world.scopes.map((scope) => [unitKey(scope.unit), scope]));
  const taken = new Set(
    world.scopes.flatMap(({ variables, procedures, types }) => [...variables.keys(), ...procedures.keys(), ...types.keys()]),
  );
  const pair = (name: string): readonly [string, string] =>
    taken.has(`${name}_re`) || taken.has(`${name}_im`) ? [`${name}__re`, `${name}__im`] : [`${name}_re`, `${name}_im`];
  const units = new Units(scopes, pair, taken);
  return files.map((file) => ({ ...file, units: file.units.map((unit) => units.rewritten(unit)) }));
}

function hasComplex({ units }: SourceFile): boolean {
  let found = false;
  const isOf = (spec: TypeSpec | undefined): boolean => spec?.type === "complex" || spec?.type === "double complex";
  eachNode(units, (node) => {
    if (node.kind === "complex") found = true;
    if (node.kind === "variables" || node.kind === "procedure") found ||= isOf((node as VariableDeclaration | Procedure).type as TypeSpec);
    if (node.kind === "name") found ||= /^d?cmplx$/.test((node as Name).name);
  });
  return found;
}

class Units {
  private temporaries: DeclaredName[] = [];
  private declared: Declaration[] = [];

  constructor(
    private readonly scopes: ReadonlyMap<string, UnitScope>,
    private readonly pair: PairPlace["pair"],
    private readonly taken: Set<string>,
  ) {}

  rewritten<T extends Unit>(unit: T): T {
    const procedures = unit.procedures.map((procedure) => this.rewritten(procedure));
    const scope = this.scopes.get(unitKey(unit));
    // The unit with its blocks' variables as its own.
    const from = (scope?.unit ?? unit) as T;
    if (!scope) return { ...unit, procedures };
    const outer = this.declared;
    this.declared = [];
    const place: UnitPlace = { scope, associated: new Map(), pair: this.pair, temporary: (bytes, at) => this.temporary(bytes, at) };
    const uses = from.uses.map((use) => useOf(place, use));
    const declarations = from.declarations.flatMap((each) => declarationsOf(place, each));
    const body = "body" in from ? { body: blocksOf(place, statementsOf(place, from.body)) } : {};
    const own = from.kind === "procedure" ? procedureOf(place, from) : {};
    const made = { ...from, uses, procedures, declarations: [...declarations, ...this.declared], ...body, ...own };
    this.declared = outer;
    if (from.kind !== "procedure" || !from.type || !complexVariable(place, resultName(from))) return made;
    // The type before `function` becomes a declaration of both parts.
    const { type, ...rest } = made as T & Procedure;
    const result = declarationsOf(place, { kind: "variables", type: type!, attributes: [], names: [resultName(from)], at: from.at });
    return { ...rest, declarations: [...rest.declarations, ...result] } as unknown as T;
  }

  private temporary(bytes: 4 | 8, at: Declaration["at"]): string {
    let name = "part";
    for (let n = 2; this.taken.has(name); n++) name = `part_${n}`;
    this.taken.add(name);
    const type: TypeSpec = { type: "real", kindOf: wholeLiteral(bytes, at), text: `real(${bytes})`, at };
    this.declared.push({ kind: "variables", type, attributes: [], names: [{ name, at }], at });
    return name;
  }
}

const resultName = ({ result, name, at }: Procedure): { kind: "name"; name: string; at: Procedure["at"] } => ({
  kind: "name",
  name: result ?? name,
  at,
});

/** Declarations of blocks, which the unit has among its own. */
const blocksOf = (place: UnitPlace, body: readonly Stmt[]): Stmt[] =>
  body.map((s) =>
    s.kind === "block" && s.declarations ? { ...s, declarations: s.declarations.flatMap((d) => declarationsOf(place, d)) } : s,
  );

const procedureOf = (place: PairPlace, { dummies }: Procedure): Partial<Procedure> => ({ dummies: names(place, dummies) });

function useOf(place: PairPlace, use: Use): Use {
  const both = (list: NonNullable<Use["only"]>): NonNullable<Use["only"]> =>
    list.flatMap((each) => {
      const found = names(place, [each.name]);
      return found.length === 1 ? [each] : found.map((name, n) => ({ name, original: place.pair(each.original)[n] }));
    });
  return { ...use, ...(use.only && { only: both(use.only) }), renames: both(use.renames) };
}

function declarationsOf(place: PairPlace, declaration: Declaration): Declaration[] {
  switch (declaration.kind) {
    case "variables":
      return variablesOf(place, declaration, (name) => ({ kind: "name", name, at: declaration.at }));
    case "type":
      return [typeOf(place, declaration)];
    case "attributes":
      return [attributesOf(place, declaration)];
    case "other": {
      const data = declaration.data?.map((set) => dataOf(place, set));
      return [{ ...declaration, text: namesInText(place, declaration.text), ...(data && { data }) }];
    }
    case "interface":
      return [declaration];
    default:
      return unreachable(declaration);
  }
}

function typeOf(place: PairPlace, definition: TypeDefinition): TypeDefinition {
  const components = definition.components.flatMap((line) => (isOfPairs(line) ? pairs(place, line, () => false) : [line]));
  return { ...definition, components };
}

const isOfPairs = ({ type }: VariableDeclaration): boolean => type.type === "complex" || type.type === "double complex";

function variablesOf(
  place: PairPlace,
  line: VariableDeclaration,
  named: (name: string) => { kind: "name"; name: string; at: Declaration["at"] },
): VariableDeclaration[] {
  const { scope } = place;
  if (!isOfPairs(line))
    return [{ ...line, names: line.names.map((each) => ({ ...each, ...(each.init && { init: realExpr(place, each.init) }) })) }];
  return pairs(place, line, (name) => {
    const variable = scope.variables.get(named(name).name);
    return variable !== undefined && isResult(variable);
  }).flatMap((made) => {
    // A function that is declared for its type.
    const others = made.names.filter(({ name }) => {
      const variable = scope.variables.get(name);
      return variable !== undefined && !variable.dims && isOtherFunction(scope, name, variable);
    });
    return [{ ...made, names: made.names.filter((each) => !others.includes(each)) }];
  });
}

/** Declarations of both parts; an array's first axis is the part. */
function pairs(place: PairPlace, line: VariableDeclaration, isResultOf: (name: string) => boolean): VariableDeclaration[] {
  const type = realType(line.type);
  const made = line.names.flatMap((each): DeclaredName[] => {
    const { name, init } = each;
    const dimension = each.dimension ?? line.dimension ?? dimsOf(place, name);
    if (dimension && dimension.length > 0) {
      const list = init && initOf(place, init, dimension);
      return [{ ...each, dimension: withParts(dimension, each.at), ...(list && { init: list }) }];
    }
    if (isResultOf(name)) return [{ ...each, dimension: withParts([], each.at) }];
    return (["re", "im"] as const).map((part, n) => ({
      ...each,
      name: place.pair(name)[n],
      ...(init && { init: partOf(place, init, part) }),
    }));
  });
  const { dimension: _, ...rest } = line;
  return [{ ...rest, type, names: made }];
}

/** The bounds that a `dimension` statement gives. */
const dimsOf = ({ scope }: PairPlace, name: string): readonly Bound[] | undefined => scope.variables.get(name)?.dims;

/** Initial values of an array: each element of a list is two. */
function initOf(place: PairPlace, init: Expr, dims: readonly Bound[]): Expr {
  const { at } = init;
  const extents = dims.map(({ lower, upper }): Expr => {
    if (!upper || upper === "*") return wholeLiteral(0, at);
    const span: Expr = lower ? { kind: "binary", op: "-", a: upper, b: { kind: "group", a: lower, at }, at } : upper;
    return lower ? { kind: "binary", op: "+", a: span, b: wholeLiteral(1, at), at } : span;
  });
  const isReshaped = init.kind === "apply" && init.base.kind === "name" && init.base.name === "reshape";
  const [first] = isReshaped ? init.args : [];
  const list = first?.kind === "value" ? first.value : init;
  if (list.kind === "constructor") {
    const shape: Expr = { kind: "constructor", items: [wholeLiteral(2, at), ...extents], at };
    return applied("reshape", [interleaved(place, list), shape], at);
  }
  const both: Expr = { kind: "constructor", items: bothOf(place, init), at };
  return extents.reduce((made: Expr, extent, n) => applied("spread", [made, wholeLiteral(n + 2, at), extent], at), both);
}

const bothOf = (place: PairPlace, e: Expr): Expr[] => (["re", "im"] as const).map((part) => partOf(place, e, part));

function interleaved(place: PairPlace, e: Constructor): Constructor {
  const items = e.items.flatMap((item): (Expr | ImpliedDo)[] =>
    item.kind === "implied-do" ? [{ ...item, items: item.items.flatMap((each) => bothOf(place, each)) }] : bothOf(place, item),
  );
  const { type: _, ...rest } = e;
  return { ...rest, items };
}

/** Both parts of objects and of values; values that are not complex stay, and are too few for a complex object. */
function dataOf(place: PairPlace, { objects, values }: DataSet): DataSet {
  return {
    objects: objects.flatMap((object) => dataObjects(place, object)),
    values: values.flatMap(({ count, value }): DataSet["values"][number][] => {
      if (!isComplex(place, value)) return [{ ...(count && { count }), value }];
      const times = count?.kind === "literal" ? Math.min(Number(count.text), MOST_VALUES) : 1;
      return Array.from({ length: times }, () => bothOf(place, value).map((part) => ({ value: part }))).flat();
    }),
  };
}

const MOST_VALUES = 5000;

function dataObjects(place: PairPlace, object: DataSet["objects"][number]): DataSet["objects"][number][] {
  if (object.kind === "data-loop") return [{ ...object, items: object.items.flatMap((item) => dataObjects(place, item)) }];
  const base = object.kind === "apply" ? object.base : object;
  const found = complexVariable(place, base);
  return !found || (found.rank > 0 && object.kind !== "apply") ? [object] : (bothOf(place, object) as DataSet["objects"][number][]);
}

function withParts(dims: readonly Bound[], at: DeclaredName["at"]): Bound[] {
  const isAssumed = dims.length > 0 && dims.every(({ assumed }) => assumed);
  return [isAssumed ? { assumed: true } : { upper: wholeLiteral(2, at), assumed: false }, ...dims];
}

/** `dimension z(5)` counts for its declaration; `parameter (z = (1.0, 2.0))` gives both parts their values. */
function attributesOf(place: PairPlace, line: AttributeStatement): AttributeStatement {
  const made = line.names.flatMap((each): DeclaredName[] => {
    const { name, init } = each;
    const found = complexVariable(place, { kind: "name", name, at: each.at });
    if (!found) return [{ ...each, ...(init && { init: realExpr(place, init) }) }];
    if (found.rank > 0 || found.isResult) {
      const { dimension: __, ...rest } = each;
      return [
        line.attribute === "dimension" ? { ...rest, dimension: withParts(place.scope.variables.get(name)?.dims ?? [], each.at) } : each,
      ];
    }
    return (["re", "im"] as const).map((part, n) => ({
      ...each,
      name: place.pair(name)[n],
      ...(init && { init: partOf(place, init, part) }),
    }));
  });
  return { ...line, names: made };
}
