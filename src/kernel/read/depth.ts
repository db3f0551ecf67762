import type * as acorn from "acorn";
import { IsoformError, KernelError } from "../../base/errors.js";
import type { Location } from "../../ir/types.js";
import { eachChild } from "./syntax.js";

/* How deep a function's text nests, counted without recursion. What comes after recurses on it: the passes, the emitters, and the compilers of the targets. */

/** Limits that suit compilers of WGSL, which go down 127 levels: a loop is three of them. */
const MOST = { blocks: 40, branches: 100, expressions: 100 };
type Depths = typeof MOST;
const KINDS = Object.keys(MOST) as (keyof Depths)[];

export const REMEDY = "put parts into locals";

/** The first node that nests too deep, with words about it; undefined if none does. Long sums and products nest no deeper than short ones. */
export function tooDeep(root: acorn.Node): { node: acorn.Node; problem: string } | undefined {
  const open: [node: acorn.Node, depths: Depths][] = [[root, { blocks: 0, branches: 0, expressions: 0 }]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [node, depths] = next;
    for (const what of KINDS) if (depths[what] > MOST[what]) return { node, problem: `${what} nest more than ${MOST[what]} deep` };
    eachChild(node, (child, property) => open.push([child, below(node, property, child, depths)]));
  }
  return undefined;
}

function below({ type }: acorn.Node, property: string, child: acorn.Node, { blocks, branches, expressions }: Depths): Depths {
  if (child.type === "IfStatement" && property === "alternate") return { blocks, branches: branches + 1, expressions };
  // Its cases become branches.
  if (child.type === "SwitchStatement")
    return { blocks: blocks + 1, branches: (child as acorn.SwitchStatement).cases.length, expressions: 0 };
  const block = child.type === "BlockStatement";
  if (block && type !== child.type) return { blocks, branches, expressions: 0 };
  if (block || /^(If|For|While|DoWhile)/.test(child.type)) return { blocks: blocks + 1, branches: 0, expressions: 0 };
  const chains = type === "BinaryExpression" && child.type === type && property === "left";
  return { blocks, branches, expressions: expressions + (child.type.endsWith("Expression") && !chains ? 1 : 0) };
}

/** Does what recurses on a kernel's code. KernelError where no stack is left for that: it was called far down, or code made by a program nests so. */
export function descending<T>(kernel: { readonly name: string; readonly location: Location }, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!isOverflow(error)) throw error;
    throw new KernelError(kernel.name, kernel.location, "its code nests deeper than the stack has room for", REMEDY);
  }
}

/** True if an engine, or acorn, ran out of stack; errors of this library do not count, whatever they say. */
export const isOverflow = (error: unknown): boolean =>
  error instanceof Error && !(error instanceof IsoformError) && /call stack|stack space|too much recursion/.test(error.message);
