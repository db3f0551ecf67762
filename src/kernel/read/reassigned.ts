import type * as acorn from "acorn";
import { eachChild, namesOf } from "./syntax.js";

/** Names of a block or a function; parameters have no declarator. */
interface Names {
  readonly own: ReadonlyMap<string, acorn.Node | undefined>;
  readonly around?: Names;
}
/** The parts of all kinds of nodes that declare or assign something. */
type Parts = acorn.Node & {
  params?: acorn.Node[];
  init?: Parts;
  body?: Parts | Parts[];
  left?: Parts;
  argument?: Parts;
  cases?: { consequent: Parts[] }[];
};

/** Names that a piece of code, with the functions inside it, gives another value. */
interface Assigned {
  /** Declarators of the names that it declares. */
  readonly declarators: Set<acorn.Node>;
  /** Names that it takes from around it. */
  readonly outer: Set<string>;
}

const found = new WeakMap<acorn.Node, Assigned>();

/** Code is asked the same each time that it is inlined. */
function assignedIn(code: acorn.Node): Assigned {
  let assigned = found.get(code);
  if (!assigned) {
    found.set(code, (assigned = { declarators: new Set(), outer: new Set() }));
    visit(code, undefined, assigned);
  }
  return assigned;
}

/** The declarators in a function whose names get another value later. Minifiers write `let` for `const`, which must mean the same. */
export const reassigned = (root: acorn.Node): ReadonlySet<acorn.Node> => assignedIn(root).declarators;

/** Names from around a piece of code that it assigns; its own do not count, which minifiers like to call as others around them. */
export const assignedNames = (code: acorn.Node): ReadonlySet<string> => assignedIn(code).outer;

function visit(node: Parts, around: Names | undefined, assigned: Assigned): void {
  const own = new Map<string, acorn.Node | undefined>();
  const declare = (pattern: acorn.Node, declarator?: acorn.Node): void => boundBy(pattern).forEach((name) => own.set(name, declarator));
  node.params?.forEach((param) => declare(param));
  for (const part of [node.init, node.left, node.body, node.cases?.map((each) => each.consequent)].flat(2))
    if (part?.type === "VariableDeclaration")
      for (const d of (part as acorn.Node as acorn.VariableDeclaration).declarations) declare(d.id, d);
  const names = { own, around };
  const target = node.type === "AssignmentExpression" ? node.left : node.type === "UpdateExpression" ? node.argument : undefined;
  if (target && target.type !== "MemberExpression")
    for (const name of namesOf(target)) {
      let at: Names | undefined = names;
      while (at && !at.own.has(name)) at = at.around;
      const declarator = at?.own.get(name);
      if (declarator) assigned.declarators.add(declarator);
      if (!at) assigned.outer.add(name);
    }
  eachChild(node, (child) => visit(child, names, assigned));
}

/** The names that a pattern binds; those in its defaults are others. */
function boundBy(pattern: acorn.Node): readonly string[] {
  const node = pattern as acorn.Pattern;
  switch (node.type) {
    case "Identifier":
      return [node.name];
    case "ObjectPattern":
      return node.properties.flatMap((p) => boundBy(p.type === "Property" ? p.value : p.argument));
    case "ArrayPattern":
      return node.elements.flatMap((element) => (element ? boundBy(element) : []));
    case "AssignmentPattern":
      return boundBy(node.left);
    case "RestElement":
      return boundBy(node.argument);
    case "MemberExpression":
      return [];
    default:
      return unreachable(node);
  }
}

function unreachable(pattern: never): never {
  throw new Error(`a pattern of type ${(pattern as acorn.Node).type}`);
}
