import type { ComponentRef, Expr, SourceFile } from "../tree/index.js";
import { rewriteBodies } from "./rewrite-bodies.js";
import { ancestry, namedVariable, type UnitScope, type World } from "./symbols.js";
import { withParts } from "./visit.js";

/* Objects of types that extend others: `o%base%n` is the component `o%n`, and `o%base` the object itself. */

/** The files without names of parent types among components; the same files if no type extends another. */
export const withoutParents = (files: readonly SourceFile[], kinds: World["kinds"]): readonly SourceFile[] =>
  rewriteBodies(
    files,
    kinds,
    (node) => node.kind === "type" && "parent" in node,
    (scope, body) => changed(scope, body),
  );

function changed<T>(scope: UnitScope, tree: T): T {
  if (Array.isArray(tree)) return tree.map((item) => changed<unknown>(scope, item)) as T;
  if (tree === null || typeof tree !== "object") return tree;
  const made = withParts(tree as object, (part) => changed(scope, part)) as T & Expr;
  return made.kind === "part" && isParent(scope, made) ? (made.base as unknown as T) : made;
}

/** Whether a component is the part of an object that its type has from a parent. */
function isParent(scope: UnitScope, { base, name }: ComponentRef): boolean {
  const object = namedVariable(scope, base.kind === "apply" ? base.base : base);
  if (object?.derived === undefined) return false;
  const [own, ...parents] = ancestry(object.scope, object.derived);
  return own !== undefined && parents.some(({ type }) => type.name === name);
}
