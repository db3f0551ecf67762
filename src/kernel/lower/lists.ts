import type * as acorn from "acorn";
import { localOf } from "../../ir/by-name.js";
import { add, int } from "../../ir/expressions.js";
import type { KernelIR } from "../../ir/types.js";
import { listParts, listTypeName } from "../declare/flat.js";
import type { ListToken } from "../declare/params.js";
import type { ElementMeaning } from "../declare/storage.js";
import { storeComposite } from "./composites.js";
import type { Lowering } from "./lowering.js";
import { scalarOperand } from "./operands.js";
import { meantType } from "./stored-values.js";
import { storeStruct, structElement, structViewOf } from "./structs.js";
import type { LoweredValue, Scope } from "./values.js";

/*
 * A list becomes arrays and a counter: `near.push(v)` is `near[near_at] = v; near_at += 1`. The kernels that count and that fill are made of this code (`list-kernels.ts`).
 */

/** A list in a kernel's code. */
export interface LoweredList {
  readonly name: string;
  /** The type of its elements, as the author writes it. */
  readonly type: string;
  readonly most: number;
  /** Views of its elements, one for each part of an element. */
  readonly views: readonly string[];
  /** The local with the place of the next element, whose first value is `counts[0]`. */
  readonly at: string;
  readonly counts: string;
}

/** A kernel's code, with its lists. */
export interface KernelWithLists extends KernelIR {
  readonly lists?: readonly LoweredList[];
}

type ListValue = Extract<LoweredValue, { kind: "list" }>;

/** Declares the arrays and the counter of a list. `meanings` takes the meaning of elements that is not what they hold. */
export function startList(
  cx: Lowering,
  name: string,
  token: ListToken,
  meanings: Map<string, ElementMeaning>,
): { readonly value: ListValue; readonly list: LoweredList } {
  const { params, location } = cx.ir;
  const arrays = listParts(token).map(({ path, token: { element, rank, of, meaning } }): Extract<LoweredValue, { kind: "view" }> => {
    const view = cx.unique([name, ...path].join("_"));
    if (meaning) meanings.set(view, meaning);
    // Indices along its first axis are right by construction.
    params.push({ kind: "view", name: view, element, rank, disjoint: true, trusted: [0] });
    return { kind: "view", name: view, element: meantType(element, meaning), rank, prefix: [], of };
  });
  const counts = cx.unique(`${name}_counts`);
  params.push({ kind: "view", name: counts, element: "i32", rank: 1, disjoint: true, trusted: [0] });
  const at = cx.unique(`${name}_at`);
  cx.out.push({ kind: "let", name: at, type: "i32", init: { op: "load", type: "i32", view: counts, indices: [int(0)] }, location });
  const left = arrays.values();
  const elements = token.elements.kind === "view" ? arrays[0] : structViewOf(name, 1, token.elements.struct, () => left.next().value!);
  return {
    value: { kind: "list", name, at, elements },
    list: { name, type: listTypeName(token.of), most: token.most, views: arrays.map((array) => array.name), at, counts },
  };
}

/** `near.push(value)` */
export function lowerPush(
  cx: Lowering,
  { name, at, elements }: ListValue,
  method: string,
  node: acorn.CallExpression,
  scope: Scope,
): LoweredValue {
  const usage = `write ${name}.push(value)`;
  if (method !== "push") return cx.fail(node, `${name} is a list, and has no method "${method}" in a kernel`, usage);
  if (node.arguments.length !== 1) return cx.fail(node, `${name}.push takes one value, and is given ${node.arguments.length}`, usage);
  const [argument] = node.arguments;
  const value = cx.expression(argument, scope);
  const place = localOf(at, "i32");
  const location = cx.at(node);
  if (elements.kind === "structView") {
    const target = structElement(cx, elements, place, node) as Extract<LoweredValue, { kind: "record" }>;
    storeStruct(cx, target, value, node);
  } else {
    const { name: view, element, of } = elements as Extract<LoweredValue, { kind: "view" }>;
    if (of) storeComposite(cx, { kind: "view", name: view, element, indices: [place], of }, value, node);
    else {
      const number = cx.stored(scalarOperand(cx, value, argument), element, node, name);
      cx.out.push({ kind: "store", view, indices: [place], value: number, location });
    }
  }
  cx.out.push({ kind: "assign", name: at, value: add(place, int(1)), location });
  return { kind: "void" };
}
