import type * as acorn from "acorn";
import { namesOf } from "./syntax.js";

/** Names of a block or a function; parameters and functions have no declarator. */
interface Names {
  readonly own: ReadonlyMap<string, acorn.VariableDeclarator | undefined>;
  readonly around?: Names;
}

const found = new WeakMap<acorn.Node, ReadonlySet<acorn.Node>>();

/** The declarators in a function whose names get another value later. Minifiers write `let` for `const`, which must mean the same. */
export function reassigned(root: acorn.Node): ReadonlySet<acorn.Node> {
  let set = found.get(root);
  if (!set) {
    set = new Set<acorn.Node>();
    visit(root, { own: new Map() }, set as Set<acorn.Node>);
    found.set(root, set);
  }
  return set;
}

function visit(node: acorn.Node, names: Names, set: Set<acorn.Node>): void {
  const own = new Map<string, acorn.VariableDeclarator | undefined>();
  const declare = (n: acorn.Node | null | undefined): void => {
    const declaration = n as acorn.AnyNode | null | undefined;
    if (declaration?.type === "VariableDeclaration")
      for (const d of declaration.declarations) for (const name of namesOf(d.id)) own.set(name, d);
    if (declaration?.type === "FunctionDeclaration") own.set(declaration.id!.name, undefined);
  };
  const assign = (target: acorn.Node): void => {
    for (const name of namesOf(target)) {
      let at: Names | undefined = names;
      while (at && !at.own.has(name)) at = at.around;
      const declarator = at?.own.get(name);
      if (declarator) set.add(declarator);
    }
  };
  const n = node as acorn.AnyNode;
  switch (n.type) {
    case "ArrowFunctionExpression":
    case "FunctionExpression":
    case "FunctionDeclaration":
      for (const param of n.params) for (const name of namesOf(param)) own.set(name, undefined);
      break;
    case "BlockStatement":
      n.body.forEach(declare);
      break;
    case "ForStatement":
      declare(n.init);
      break;
    case "AssignmentExpression":
      if (n.left.type !== "MemberExpression") assign(n.left);
      break;
    case "UpdateExpression":
      if (n.argument.type === "Identifier") assign(n.argument);
      break;
  }
  const inner = own.size > 0 ? { own, around: names } : names;
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value])
      if (typeof (child as acorn.Node | null)?.type === "string") visit(child as acorn.Node, inner, set);
}
