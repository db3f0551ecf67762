/* Syntax that no kernel has, with what to write: for the compiler, and for linters, which see no types. */

interface RefusedSyntax {
  readonly written: string;
  readonly remedy?: string;
}

/** By the type of ESTree's node. */
const REFUSED: Readonly<Record<string, RefusedSyntax>> = {
  ForInStatement: { written: "for-in", remedy: "count with for (let k = 0; k < n; k++)" },
  TryStatement: { written: "try" },
  ThrowStatement: { written: "throw", remedy: "kernels cannot throw; write an error code to a view" },
  ClassDeclaration: { written: "class" },
  ClassExpression: { written: "class" },
  SpreadElement: {
    written: "a spread list, ...a,",
    remedy: "give each value by itself; for many, write a loop: m = Math.max(m, a[k])",
  },
  ChainExpression: { written: "?.", remedy: "write a.b and a[b]: nothing is null or undefined in a kernel" },
  TemplateLiteral: { written: "a template string" },
  TaggedTemplateExpression: { written: "a tagged template" },
  AwaitExpression: { written: "await" },
  YieldExpression: { written: "yield" },
  ThisExpression: { written: "this" },
  ImportExpression: { written: "import" },
};

/** Problem and remedy of something that is outside the language. */
export type RefusedWith = readonly [problem: string, remedy: string];

export const notPart = (written: string, remedy = "see docs/language.md"): RefusedWith => [
  `${written} is not part of the kernel language`,
  remedy,
];

/** Problem and remedy of a node that is never lowered. */
export function refusedSyntax(type: string): RefusedWith {
  const { written, remedy } = Object.hasOwn(REFUSED, type) ? REFUSED[type] : { written: type };
  return notPart(written, remedy);
}

/** True for a type of nodes that is refused wherever it stands in a kernel. */
export const isRefusedSyntax = (type: string): boolean =>
  Object.hasOwn(REFUSED, type) && type !== "SpreadElement" && type !== "TemplateLiteral";

export const NOT_NUMBER = "kernels have numbers and truth values only";
export const NOT_PLAIN: RefusedWith = notPart("an async function or a generator", "write a plain function");
export const NULLISH: RefusedWith = notPart("??", "write if, or ?:");
export const RANDOM: RefusedWith = notPart("Math.random", "draw from a counter: see philox");
export const NO_RECURSION = "kernels have no recursion; write a loop";
