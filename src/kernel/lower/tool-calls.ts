import type * as acorn from "acorn";
import { own } from "../../base/own.js";
import type { ExpressionNode, Lowering } from "./lowering.js";
import { scalarOperand } from "./operands.js";
import { lowerOperator } from "./operators.js";
import { merged } from "./records.js";
import { pathOf, stringOf } from "../read/syntax.js";
import type { Scope, LoweredValue } from "./values.js";

/*
 * Calls that compilers, bundlers and minifiers write in place of the author's own syntax. They call functions that the author's file does not have:
 * what means something in kernels is taken as he wrote it, all else is refused as he wrote it.
 */

interface Refusal {
  readonly written: string;
  readonly remedy: string;
  /** Helpers that esbuild, tsc, swc and Babel call, without underscores and capitals. */
  readonly helpers: string;
}

const REFUSALS: readonly Refusal[] = [
  {
    written: "the rest of an object, { a, ...rest },",
    remedy: "name each part",
    helpers: "objrest rest objectwithoutproperties objectwithoutpropertiesloose",
  },
  {
    written: "a spread list, ...a,",
    remedy: "give each value by itself; for many, write a loop",
    helpers: "spread spreadarray toconsumablearray",
  },
  {
    written: "taking a list apart for an old target",
    remedy: "set the tool's target to es2015 or later",
    helpers: "read slicedtoarray toarray",
  },
  {
    written: "an async function or a generator",
    remedy: "write a plain function",
    helpers:
      "async awaiter asynctogenerator generator tsgenerator asyncgenerator wrapasyncgenerator yieldstar await forawait asyncdelegator",
  },
  {
    written: "a class",
    remedy: "write functions",
    helpers:
      "publicfield defineproperty privateadd privateget privateset privatemethod privatewrapper classcallcheck createclass inherits callsuper " +
      "classprivatefieldinit classprivatefieldget classprivatefieldset decorate decorateclass decorateelement esdecorate runinitializers",
  },
  {
    written: "for-of for an old target",
    remedy: "set the tool's target to es2015 or later",
    helpers: "values createforofiteratorhelper createforofiteratorhelperloose",
  },
  {
    written: "a tagged template",
    remedy: "kernels have numbers and truth values only",
    helpers: "template maketemplateobject taggedtemplateliteral",
  },
  { written: "typeof", remedy: "types are known from the declared parameters", helpers: "typeof" },
  { written: "using", remedy: "declare with let or const", helpers: "using calldispose adddisposableresource disposeresources" },
];

const BY_HELPER: Readonly<Record<string, Refusal>> = Object.fromEntries(
  REFUSALS.flatMap((refusal) => refusal.helpers.split(" ").map((name) => [name, refusal])),
);

/** Helpers by which tools write `{ ...a, b }`. */
const SPREADS = new Set("spreadvalues spreadprops assign objectspread objectspreadprops extends".split(" "));

/**
 * The value of a call that a tool wrote: `__pow(a, b)` for `a ** b`, `__spreadValues({}, a)` for `{ ...a }`, and `__name(fn, "name")`, also under another name, which keeps a function's
 * name. Refuses calls that stand for what is outside of the language. Undefined for all other calls, and for names that are known in `scope`.
 */
export function toolCall(cx: Lowering, node: acorn.CallExpression, scope: Scope): LoweredValue | undefined {
  const path = pathOf(node.callee);
  if (path === undefined || scope.find(path) || scope.find(path.split(".")[0])) return undefined;
  const args = node.arguments as readonly ExpressionNode[];
  if (!path.includes(".") && keepsName(args)) return cx.expression(args[0], scope);
  if (path === "Object.assign" && args.length > 0) return merged(cx, args, scope);
  for (const part of path.split(".").filter((word) => word.startsWith("_"))) {
    const name = part.replace(/_|\d+$/g, "").toLowerCase();
    if (name === "pow" && args.length === 2) {
      const [a, b] = cx.inOrder(
        args.map((arg) => () => scalarOperand(cx, cx.expression(arg, scope), arg)),
        (value, n) => cx.materialiseScalar(value, args[n]),
      );
      return lowerOperator(cx, "**", a, b, node);
    }
    if (SPREADS.has(name) && args.length > 0) return merged(cx, args, scope);
    const refusal = own(BY_HELPER, name);
    if (refusal) return cx.fail(node, `${refusal.written} is not part of the kernel language`, refusal.remedy);
  }
  return undefined;
}

/** `__name(fn, "name")` and, minified, `s(m => ..., "g")`: no other function takes a text. */
const keepsName = ([fn, text, ...more]: readonly ExpressionNode[]): boolean =>
  more.length === 0 && /^(Identifier|ArrowFunctionExpression|FunctionExpression)$/.test(fn?.type ?? "") && stringOf(text) !== undefined;

/** True for `null`, and for `void 0`, which no number is. */
export const isNothing = (node: acorn.Node): boolean => {
  const n = node as acorn.AnyNode;
  return (n.type === "Literal" && n.raw === "null") || (n.type === "UnaryExpression" && n.operator === "void");
};
