import type { Location } from "../../ir/types.js";
import { namedVariable } from "../analyse/symbols.js";
import { eachNode, rootOf, withBodies } from "../analyse/visit.js";
import type {
  ActualArgument,
  Allocate,
  Apply,
  Assign,
  Associate,
  Clause,
  Designator,
  Directed,
  DoConcurrent,
  Expr,
  Name,
  Stmt,
} from "../tree/index.js";
import { pairedArguments, asArray, bothParts, givesComplexArray, partOf, realExpr } from "./expressions.js";
import { refusedTree, wholeLiteral } from "./nodes.js";
import { complexVariable, isComplex, type PairPlace } from "./types.js";

/* Statements with pairs of reals in place of complex numbers. */

/** The names of a unit, and the variables that its statements need besides. */
export interface UnitPlace extends PairPlace {
  /** A new scalar of this kind. */
  readonly temporary: (bytes: 4 | 8, at: Location) => string;
}

export const statementsOf = (place: UnitPlace, body: readonly Stmt[], masked = false): Stmt[] =>
  body.flatMap((s) => statement(place, s, masked));

/** `masked`: in `where` and `forall`, whose statements are assignments alone. */
function statement(place: UnitPlace, s: Stmt, masked: boolean): Stmt[] {
  const more = { before: s.before, ...(s.label !== undefined && { label: s.label }) };
  const with_ = (made: readonly Stmt[]): Stmt[] => made.map((each, n) => (n === 0 ? { ...each, ...more } : each));
  switch (s.kind) {
    case "assign":
      return with_(assigned(place, s, masked));
    case "pointer-assign": {
      const { target, value } = s;
      const base = target.kind === "apply" ? target.base : target;
      if (!complexVariable(place, base)) return [{ ...s, value: realExpr(place, value) }];
      const to = isComplex(place, value) ? asArray(place, value) : value;
      if (target.kind !== "apply") return [{ ...s, value: to }];
      const isSized = target.args.every((arg) => arg.kind === "section" && arg.upper);
      const parts: ActualArgument = { kind: "section", lower: wholeLiteral(1, s.at), ...(isSized && { upper: wholeLiteral(2, s.at) }) };
      return [{ ...s, target: { ...target, args: [parts, ...target.args] }, value: to }];
    }
    case "call":
      return [{ ...s, args: pairedArguments(place, { base: s.procedure }, s.args) }];
    case "allocate":
      return with_(allocated(place, s));
    case "deallocate":
    case "unsupported":
      return [s];
    case "print":
      return [{ ...s, items: s.items.flatMap((e) => (isComplex(place, e) ? parts(place, e) : [realExpr(place, e)])) }];
    case "associate":
      return [associated(place, s)];
    case "directed":
      return [{ ...s, directive: { ...s.directive, clauses: clausesOf(place, s) }, body: statementsOf(place, s.body, masked) }];
    case "do-concurrent": {
      const { local, localInit, shared, reduce } = s;
      const lists = { local: names(place, local), localInit: names(place, localInit), shared: names(place, shared) };
      const made: DoConcurrent = {
        ...plainly(place, s),
        ...lists,
        reduce: reduce.map((each) => ({ ...each, names: names(place, each.names) })),
      };
      return [withBodies(made, (body) => statementsOf(place, body, masked || s.forall === true))];
    }
    // Any other statement has expressions and bodies alone.
    default: {
      const isMasked = masked || s.kind === "where";
      return [withBodies(plainly(place, s), (body) => statementsOf(place, body, isMasked))];
    }
  }
}

const parts = (place: PairPlace, e: Expr): Expr[] => (["re", "im"] as const).map((part) => partOf(place, e, part));

const EXPRESSIONS: readonly string[] = ["literal", "complex", "name", "part", "apply", "unary", "binary", "group", "constructor"];
const NOT_OWN: readonly string[] = ["at", "body", "otherwise"];

/** A statement, or a part of one, with the expressions that stand in itself rewritten. */
function plainly<T>(place: PairPlace, tree: T): T {
  if (Array.isArray(tree)) return tree.map((item: unknown) => plainly(place, item)) as T;
  if (tree === null || typeof tree !== "object") return tree;
  if (EXPRESSIONS.includes((tree as { kind?: string }).kind ?? "")) return realExpr(place, tree as unknown as Expr) as T;
  const entries = Object.entries(tree).map(([key, value]) => [
    key,
    NOT_OWN.includes(key) ? (value as unknown) : plainly<unknown>(place, value),
  ]);
  return Object.fromEntries(entries) as T;
}

/* Assignments. */

function assigned(place: UnitPlace, s: Assign, masked: boolean): Stmt[] {
  const { target, value, at } = s;
  if (!isComplex(place, target)) {
    const to = realExpr(place, target) as Designator;
    return [{ ...s, target: to, value: isComplex(place, value) ? partOf(place, value, "re") : realExpr(place, value) }];
  }
  if (givesComplexArray(place, value)) return [{ ...s, target: asArray(place, target) as Designator, value: realExpr(place, value) }];
  const [re, im] = parts(place, target) as [Designator, Designator];
  const [x, y] = parts(place, value);
  const both: Stmt[] = [
    { ...s, target: re, value: x },
    { kind: "assign", target: im, value: y, at },
  ];
  if (!readsFirst(re, [im, y])) return both;
  if (masked) {
    const refused = refusedTree("complex", "the right side reads the array that it assigns under a mask", "write a do loop", at);
    return [{ ...s, target: re, value: refused }];
  }
  if (isArray(place, target)) return [{ ...s, target: asArray(place, target) as Designator, value: bothParts(place, value) }];
  const base = target.kind === "apply" ? target.base : target;
  const kept: Expr = { kind: "name", name: place.temporary(namedVariable(place.scope, base)?.type === "f32" ? 4 : 8, at), at };
  return [{ ...s, target: kept, value: x }, both[1], { kind: "assign", target: re, value: kept, at }];
}

/** Whether expressions read a variable that is assigned before: the first part of the target. */
function readsFirst(target: Designator, then: readonly Expr[]): boolean {
  let found = false;
  const isSecond = (e: Apply): boolean => {
    const [first] = e.args;
    return first?.kind === "value" && first.value.kind === "literal" && first.value.text === "2";
  };
  const root = rootOf(target);
  eachNode(then, (node) => {
    const e = node as Expr;
    if (e.kind === "apply" && rootOf(e) === root && target.kind === "apply") {
      found ||= !isSecond(e);
      eachNode(e.args, (inner) => void (found ||= inner.kind === "name" && (inner as Name).name === root));
      return false;
    }
    if (e.kind === "part") found ||= JSON.stringify(withoutPlaces(e)) === JSON.stringify(withoutPlaces(target));
    if (e.kind === "name") found ||= target.kind === "name" ? e.name === target.name : target.kind === "apply" && e.name === root;
    return undefined;
  });
  return found;
}

const withoutPlaces = (e: unknown): unknown =>
  Array.isArray(e)
    ? e.map(withoutPlaces)
    : e !== null && typeof e === "object"
      ? Object.fromEntries(Object.entries(e).flatMap(([key, value]) => (key === "at" ? [] : [[key, withoutPlaces(value)]])))
      : e;

/** Whether a designator is an array: a name of one, or a section. */
function isArray(place: PairPlace, e: Designator): boolean {
  if (e.kind !== "apply") return (complexVariable(place, e)?.rank ?? 0) > 0;
  return e.args.some((arg) => arg.kind === "section" || (arg.kind === "value" && isList(place, arg.value)));
}

const isList = (place: PairPlace, e: Expr): boolean =>
  e.kind === "constructor" || ((e.kind === "name" || e.kind === "part") && namedVariable(place.scope, e)?.dims !== undefined);

/* Other statements. */

function allocated(place: UnitPlace, s: Allocate): Stmt[] {
  const two = (at: Location): ActualArgument => ({ kind: "value", value: wholeLiteral(2, at) });
  const isOf = (target: Designator): boolean => complexVariable(place, target.kind === "apply" ? target.base : target) !== undefined;
  const arrays = s.arrays.map(({ target, at }) => {
    const real = realExpr(place, target) as Designator;
    return { at, target: real.kind === "apply" && isOf(target) ? { ...real, args: [two(at), ...real.args] } : real };
  });
  const source = s.options.find(({ keyword, value }) => keyword === "source" && isComplex(place, value));
  const isWhole = source && (source.value.kind === "name" || source.value.kind === "part");
  const kept = s.options.filter((option) => isWhole === true || option !== source);
  const options = kept.map(({ keyword, value }) => ({
    keyword,
    value: isComplex(place, value) ? asArray(place, value) : realExpr(place, value),
  }));
  const made: Allocate = { ...s, arrays, options };
  if (!source || isWhole) return [made];
  // Any other source is assigned.
  const filled = s.arrays.map(({ target, at }): Assign => ({
    kind: "assign",
    target: target.kind === "apply" ? target.base : target,
    value: source.value,
    at,
  }));
  return [made, ...filled.flatMap((each) => assigned(place, each, false))];
}

function associated(place: UnitPlace, s: Associate): Associate {
  const inner = new Map(place.associated);
  const made = s.names.flatMap(({ name, value }): { name: string; value: Expr }[] => {
    const complex = isComplex(place, value);
    const rank = complex ? rankOf(place, value) : 0;
    inner.set(name, { complex, rank });
    if (!complex) return [{ name, value: realExpr(place, value) }];
    if (rank > 0) return [{ name, value: asArray(place, value) }];
    return parts(place, value).map((part, n) => ({ name: place.pair(name)[n], value: part }));
  });
  return { ...s, names: made, body: statementsOf({ ...place, associated: inner }, s.body) };
}

function rankOf(place: PairPlace, e: Expr): number {
  if (e.kind === "name" || e.kind === "part") return complexVariable(place, e)?.rank ?? 0;
  return e.kind === "apply" && complexVariable(place, e.base) ? e.args.filter((arg) => arg.kind === "section").length : 0;
}

/** Names in a list, both parts of complex scalars. */
export const names = (place: PairPlace, list: readonly string[]): string[] =>
  list.flatMap((name) => (isScalar(place, name) ? [...place.pair(name)] : [name]));

function isScalar(place: PairPlace, name: string): boolean {
  const found = complexVariable(place, { kind: "name", name, at: place.scope.unit.at });
  return found !== undefined && found.rank === 0 && !found.isResult;
}

/** Names in a text, both parts of complex scalars. */
export const namesInText = (place: PairPlace, text: string): string =>
  text.replace(/[a-z]\w*/gi, (word) => (isScalar(place, word.toLowerCase()) ? place.pair(word.toLowerCase()).join(", ") : word));

function clausesOf(place: PairPlace, { directive }: Directed): Clause[] {
  return directive.clauses.map((clause): Clause => {
    if ("names" in clause) {
      const ofProducts = clause.kind === "reduction" && clause.op !== "+" ? clause.names.find((name) => isScalar(place, name)) : undefined;
      if (ofProducts !== undefined)
        place.scope.world.problems.add(
          clause.at,
          `reduction(${clause.kind === "reduction" ? clause.op : ""}: ${ofProducts})`,
          "complex numbers are only added up",
          "write a loop without a directive",
        );
      return { ...clause, names: names(place, clause.names) };
    }
    if (clause.kind === "data")
      return {
        ...clause,
        objects: clause.objects.flatMap((object): Designator[] =>
          object.kind === "name" ? names(place, [object.name]).map((name) => ({ ...object, name })) : [object],
        ),
      };
    return clause.kind === "other" ? { ...clause, text: namesInText(place, clause.text) } : clause;
  });
}
