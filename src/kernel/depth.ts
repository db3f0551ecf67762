import type * as acorn from "acorn";

/* How deep a function's text nests, counted without recursion. What comes after recurses on it: the passes, the emitters, and the compilers of the targets. */

/** What may nest, how deep, and what is to be done about more. WGSL takes 127 blocks inside each other, some of which are the emitter's. */
const LIMITS = {
  blocks: { most: 100, remedy: "join conditions, or leave by return, break or continue" },
  branches: { most: 250, remedy: "look the values up in a table" },
  expressions: { most: 250, remedy: "put parts into locals" },
} as const;

type Depths = Readonly<Record<keyof typeof LIMITS, number>>;

/** The first node that nests too deep, with words about it; undefined where none does. Long sums and products nest no deeper than short ones. */
export function tooDeep(root: acorn.Node): { node: acorn.Node; problem: string; remedy: string } | undefined {
  const open: [node: acorn.Node, depths: Depths][] = [[root, { blocks: 0, branches: 0, expressions: 0 }]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [node, depths] = next;
    for (const what of ["blocks", "branches", "expressions"] as const) {
      const { most, remedy } = LIMITS[what];
      if (depths[what] > most) return { node, problem: `${what} nest more than ${most} deep`, remedy };
    }
    for (const [property, value] of Object.entries(node))
      for (const child of Array.isArray(value) ? value : [value])
        if (isNode(child)) open.push([child, below(node, property, child, depths)]);
  }
  return undefined;
}

function below(node: acorn.Node, property: string, child: acorn.Node, depths: Depths): Depths {
  if (child.type === "IfStatement" && property === "alternate") return { ...depths, branches: depths.branches + 1 };
  if (child.type === "BlockStatement" || /^(If|For|While|DoWhile)/.test(child.type))
    return child.type === "BlockStatement" && node.type !== "BlockStatement"
      ? { ...depths, expressions: 0 }
      : { blocks: depths.blocks + 1, branches: 0, expressions: 0 };
  const chains = node.type === "BinaryExpression" && child.type === "BinaryExpression" && property === "left";
  return child.type.endsWith("Expression") && !chains ? { ...depths, expressions: depths.expressions + 1 } : depths;
}

const isNode = (value: unknown): value is acorn.Node => typeof value === "object" && value !== null && "type" in value && "start" in value;

/** An engine, or acorn, has no stack left to go down. */
export const isOverflow = (error: unknown): boolean => error instanceof Error && /call stack|stack space|recursion/.test(error.message);
