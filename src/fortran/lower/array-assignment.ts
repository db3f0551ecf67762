import { int } from "../../ir/expressions.js";
import { unreachable } from "../../base/unreachable.js";
import { find, findProcedure, type UnitScope } from "../analyse/symbols.js";
import { bare, namesInExpr, visitExpr } from "../analyse/walk.js";
import { BOTH_PARTS, isOfComplex } from "../complex/nodes.js";
import type { ActualArgument, Expr as Tree, Stmt as TreeStmt, Where } from "../tree/index.js";
import { isOverArrays } from "./array-functions.js";
import type { ArrayValue } from "./arrays.js";
import { designated, eachIndex, isArray, itemsOf, probe, extentsOfExpr, value, valueAs } from "./expressions.js";
import type { ProcedureFrame, FortranLowering } from "./lowering.js";
import { complexValue } from "./complex.js";
import { converted, treeName, Unlowerable } from "./values.js";

/* Assignments of whole arrays and of sections. The right side counts as it was before any element is assigned. */

/** Assigns an expression to an array that `target` names. */
export function assignArray(cx: FortranLowering, target: Tree, array: ArrayValue, from: Tree, frame: ProcedureFrame): void {
  const source = bare(from);
  const at = cx.location;
  if (source.kind === "constructor") {
    const items = itemsOf(cx, frame, source).map((item) => cx.kept("item", valueAs(cx, item.frame, array.type, item.e)));
    items.forEach((item, n) => cx.push(array.at([int(n)]).store(item, at)));
    return;
  }
  if (source.kind === "apply" && treeName(source) === BOTH_PARTS) return assignPairs(cx, target, array, source.args[0], frame);
  const kept = keepScalars(cx, frame, from);
  const shape = extentsOfExpr(cx, kept.frame, kept.e);
  if (shape && shape.length !== array.extents.length)
    throw new Unlowerable(at, array.name, `an array of ${shape.length} axes is assigned to an array of ${array.extents.length}`);
  if (!shape) {
    const e = cx.kept("value", valueAs(cx, kept.frame, array.type, kept.e));
    return eachIndex(cx, array.extents, (index) => cx.push(array.at(index).store(e, at)));
  }
  const each = (to: ArrayValue): void =>
    eachIndex(cx, array.extents, (index) => cx.push(to.at(index).store(valueAs(cx, kept.frame, array.type, kept.e, index), at)));
  copiedIf(cx, namesElsewhere(cx, kept.frame, kept.e, target, array), array, each);
}

/** Both parts of complex elements: the right side is computed once for them. */
function assignPairs(cx: FortranLowering, target: Tree, array: ArrayValue, from: ActualArgument, frame: ProcedureFrame): void {
  if (from.kind !== "value") return;
  const at = cx.location;
  const [, ...extents] = array.extents;
  const shape = extentsOfExpr(cx, frame, from.value) ?? extents;
  if (shape.length !== extents.length)
    throw new Unlowerable(at, array.name, `an array of ${shape.length} axes is assigned to an array of ${extents.length}`);
  const each = (to: ArrayValue): void =>
    eachIndex(cx, extents, (index) => {
      const { re, im } = complexValue(cx, frame, from.value, index);
      const both = [re, im].map((e) => cx.kept("part", converted(array.type, e, at)));
      both.forEach((e, part) => cx.push(to.at([int(part), ...index]).store(e, at)));
    });
  copiedIf(cx, namesElsewhere(cx, frame, from.value, target, array, withoutPart), array, each);
}

/** Assigns to a copy first where elements may be read that were assigned before. */
function copiedIf(cx: FortranLowering, isNeeded: boolean, array: ArrayValue, each: (to: ArrayValue) => void): void {
  const at = cx.location;
  if (!isNeeded) return each(array);
  if (!cx.canHave(array.extents))
    throw new Unlowerable(
      at,
      array.name,
      "the right side may read elements that were assigned before, and the copy that this needs has a size unknown before the launch",
      "write a do loop, or assign to another array first",
    );
  const copy = cx.array(array.name, array.type, array, at);
  each(copy);
  eachIndex(cx, array.extents, (index) => cx.push(array.at(index).store(copy.at(index).load(at), at)));
}

/** Assignments under masks; the masks count as they were before. */
export function where(cx: FortranLowering, stmt: Where, frame: ProcedureFrame): void {
  const shape = stmt.branches.map(({ cond }) => extentsOfExpr(cx, frame, cond)).find(Boolean);
  if (!shape) throw new Unlowerable(stmt.at, "where", "its mask is not an array", "use if");
  const bodies = [...stmt.branches.map(({ body }) => body), stmt.otherwise ?? []];
  const assigned = bodies.flat().flatMap((inner) => {
    if (inner.kind === "comment") return [];
    const found = inner.kind === "assign" ? probe(cx, () => designated(cx, frame, inner.target)) : undefined;
    if (inner.kind !== "assign" || !found || "cell" in found)
      throw new Unlowerable(inner.at, "where", "it contains more than assignments to arrays", "write a do loop");
    return [{ target: inner.target, array: found.array, value: inner.value }];
  });
  // All statements are carried out for one element, then for the next.
  for (const e of [...stmt.branches.map(({ cond }) => cond), ...assigned.map((one) => one.value)])
    for (const { target, array } of assigned)
      if (probe(cx, () => namesElsewhere(cx, frame, e, target, array, withoutNumber)))
        throw new Unlowerable(e.at, array.name, "where assigns it, and reads other elements of it", "write a do loop");
  eachIndex(cx, shape, (index) => {
    const assign = (body: readonly TreeStmt[]): void => {
      for (const inner of body) {
        const found = inner.kind === "assign" ? designated(cx, frame, inner.target) : undefined;
        if (inner.kind === "assign" && found)
          cx.push(found.array.at(index).store(valueAs(cx, frame, found.array.type, inner.value, index), inner.at));
      }
    };
    const nest = ([branch, ...rest]: Where["branches"]): void => {
      if (!branch) return assign(stmt.otherwise ?? []);
      const cond = value(cx, frame, branch.cond, index);
      const then = cx.collect(() => assign(branch.body));
      const other = cx.collect(() => nest(rest));
      cx.push({ kind: "if", cond, then, else: other, location: branch.at });
    };
    nest(stmt.branches);
  });
}

/** An expression with elements, folds such as `sum(a)` and other single values of functions computed before, once. */
function keepScalars(cx: FortranLowering, frame: ProcedureFrame, e: Tree): { e: Tree; frame: ProcedureFrame } {
  const meanings = new Map(frame.meanings);
  const kept = (node: Tree): Tree => {
    switch (node.kind) {
      case "unary":
      case "group":
        return { ...node, a: kept(node.a) };
      case "binary":
        return { ...node, a: kept(node.a), b: kept(node.b) };
      case "apply": {
        if (isOfComplex(treeName(node)) && extentsOfExpr(cx, frame, node)) return node;
        const procedure = isArray(frame, node.base) ? undefined : findProcedure(frame.scope, treeName(node.base));
        const given = procedure && givesArray(procedure) ? cx.parts.inline(cx, frame, procedure, node.args, node.at) : undefined;
        if (given) {
          const name = `array ${meanings.size}`;
          meanings.set(name, given);
          return { kind: "name", name, at: node.at };
        }
        if (extentsOfExpr(cx, frame, node))
          return isArray(frame, node.base)
            ? node
            : { ...node, args: node.args.map((arg): ActualArgument => (arg.kind === "value" ? { ...arg, value: kept(arg.value) } : arg)) };
        // No name of a program has a blank.
        const name = `value ${meanings.size}`;
        meanings.set(name, { kind: "value", expr: cx.kept("value", value(cx, frame, node)) });
        return { kind: "name", name, at: node.at };
      }
      case "literal":
      case "complex":
      case "name":
      case "part":
      case "constructor":
        return node;
      default:
        return unreachable(node);
    }
  };
  return { e: kept(e), frame: { ...frame, meanings } };
}

const givesArray = (procedure: UnitScope): boolean => {
  const { unit } = procedure;
  return unit.kind === "procedure" && unit.form === "function" && find(procedure, unit.result ?? unit.name)?.dims !== undefined;
};

/** Functions that ask for more about an array than its elements. */
const INQUIRIES: ReadonlySet<string> = new Set(["size", "lbound", "ubound", "huge", "tiny", "epsilon", "kind"]);

/** Whether an expression reads other elements of an array than the one that it is assigned to; `element` gives what counts as one. */
function namesElsewhere(
  cx: FortranLowering,
  frame: ProcedureFrame,
  e: Tree,
  target: Tree,
  array: ArrayValue,
  element = (node: Tree): Tree => node,
): boolean {
  const place = (node: Tree): string => written(element(node));
  const [here, name] = [place(target), treeName(target)];
  let found = false;
  visitExpr(e, (node) => {
    if (node.kind !== "apply" && node.kind !== "name" && node.kind !== "part") return true;
    if (node.kind === "apply" && !isArray(frame, node.base)) {
      if (INQUIRIES.has(treeName(node.base))) return false;
      // A function over arrays or of the program may take all elements.
      const takesAll = isOverArrays(treeName(node.base)) || !extentsOfExpr(cx, frame, node);
      if (takesAll && namesInExpr(node).has(name)) found = true;
      return true;
    }
    if (!isArray(frame, node.kind === "apply" ? node.base : node)) return true;
    const named = probe(cx, () => designated(cx, frame, node));
    if (named?.array.name === array.name ? place(node) !== here : node.kind === "apply" && node.args.some(mentions(name))) found = true;
    return false;
  });
  return found;
}

const mentions =
  (name: string) =>
  (arg: ActualArgument): boolean =>
    (arg.kind === "value" ? [arg.value] : [arg.lower, arg.upper, arg.step]).some((e) => e !== undefined && namesInExpr(e).has(name));

/** Both parts of a complex element are one. */
const withoutPart = (e: Tree): Tree => (e.kind === "apply" ? { ...e, args: e.args.slice(1) } : e);

/** Takes `a(1, :)` and `a(2, :)` as one: each element is read and written by itself. */
function withoutNumber(e: Tree): Tree {
  const [first] = e.kind === "apply" ? e.args : [];
  return first?.kind === "value" && first.value.kind === "literal" ? withoutPart(e) : e;
}

/** The text of an expression, the same for `a` and `a(:, :)`. */
function written(e: Tree): string {
  const isWhole = e.kind === "apply" && e.args.every((arg) => arg.kind === "section" && !arg.lower && !arg.upper && !arg.step);
  return JSON.stringify(isWhole ? e.base : e, (key, part: unknown) => (key === "at" ? undefined : part));
}
