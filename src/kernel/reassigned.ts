import type * as acorn from "acorn";
import { eachChild, namesOf } from "./syntax.js";

/** Names of a block or a function; parameters have no declarator. */
interface Names {
  readonly own: ReadonlyMap<string, acorn.Node | undefined>;
  readonly around?: Names;
}
/** The parts of all kinds of nodes that declare or assign something. */
type Parts = acorn.Node & { params?: acorn.Node[]; init?: Parts; body?: Parts | Parts[]; left?: Parts; argument?: Parts };

const found = new WeakMap<acorn.Node, Set<acorn.Node>>();

/** The declarators in a function whose names get another value later. Minifiers write `let` for `const`, which must mean the same. */
export function reassigned(root: acorn.Node): ReadonlySet<acorn.Node> {
  let set = found.get(root);
  if (!set) {
    found.set(root, (set = new Set()));
    visit(root, undefined, set);
  }
  return set;
}

function visit(node: Parts, around: Names | undefined, set: Set<acorn.Node>): void {
  const own = new Map<string, acorn.Node | undefined>();
  const declare = (pattern: acorn.Node, declarator?: acorn.Node): void => namesOf(pattern).forEach((name) => own.set(name, declarator));
  node.params?.forEach((param) => declare(param));
  for (const part of [node.init, node.body].flat())
    if (part?.type === "VariableDeclaration")
      for (const d of (part as acorn.Node as acorn.VariableDeclaration).declarations) declare(d.id, d);
  const names = { own, around };
  const target = node.type === "AssignmentExpression" ? node.left : node.type === "UpdateExpression" ? node.argument : undefined;
  if (target && target.type !== "MemberExpression")
    for (const name of namesOf(target)) {
      let at: Names | undefined = names;
      while (at && !at.own.has(name)) at = at.around;
      const declarator = at?.own.get(name);
      if (declarator) set.add(declarator);
    }
  eachChild(node, (child) => visit(child, names, set));
}
