import { otherCopies } from "../../base/copies.js";
import type * as acorn from "acorn";
import { listBehind } from "./capture-lists.js";
import type { Lowering } from "./lowering.js";
import { pathOf } from "../read/syntax.js";
import { isNamespace, type Scope, type LoweredValue } from "./values.js";

/* Names of what is outside a kernel: see capture-lists.ts. */

/** Names of JavaScript that kernels do not have. */
const OF_JAVASCRIPT = new Set(
  "Array Date Error JSON Map Object Promise RegExp Set String Symbol isFinite isNaN parseFloat parseInt performance process".split(" "),
);

/** Refuses the name of something outside the kernel, and says where to list it. */
export function unknown(cx: Lowering, node: acorn.Node, name: string, scope: Scope): never {
  if (OF_JAVASCRIPT.has(name.split(".")[0]))
    return cx.fail(node, `${name} is not part of the kernel language`, "see docs/language.md for what is");
  const power = cx.source.minified ? "; if your file has **, set the tool's target to es2016 or later" : "";
  const list = listBehind(scope);
  if (list) {
    const remedy = cx.source.minified
      ? "the code is minified, each module with names of its own: give the function a list, helper(fn, () => [...]), or leave isoform's kernels unminified"
      : list.remedy(asAuthor(name));
    return cx.fail(node, `captures "${name}", which is neither a parameter nor listed${otherCopies()}`, remedy + power);
  }
  return cx.fail(
    node,
    `captures "${name}", which is not a parameter${otherCopies()}`,
    `list it after the function: ${cx.declaration(asAuthor(name))}; what launches give is a parameter${power}`,
  );
}

/** Refuses `undefined`, which compilers write as `void 0`. */
export const undefinedUsed = (cx: Lowering, node: acorn.Node): never =>
  cx.fail(node, "undefined is not a number", "kernels have numbers and truth values only");

/** Most tools write what was imported as a member of a name of their own. */
const asAuthor = (path: string): string => (/^_|^import_|^\w+_\d+\./.test(path) ? path.split(".").at(-1)! : path);

/** A member of something outside the kernel, `m.wave`; undefined if its first name is known here. */
export function outerMember(cx: Lowering, node: acorn.MemberExpression, scope: Scope): LoweredValue | undefined {
  const path = pathOf(node);
  if (path === undefined) return undefined;
  const [first] = path.split(".");
  if (isNamespace(first) || scope.find(first)) return undefined;
  return scope.find(path);
}

/** Refuses a member of something outside that is not listed, nor what it is a member of. */
export function unknownMember(cx: Lowering, node: acorn.MemberExpression, scope: Scope): void {
  const names = (pathOf(node) ?? "").split(".");
  if (names.length < 2 || isNamespace(names[0])) return;
  if (names.some((_, n) => scope.find(names.slice(0, n + 1).join(".")))) return;
  unknown(cx, node, names.slice(0, names.at(-1) === "length" ? -1 : undefined).join("."), scope);
}
