import { NO_RECURSION } from "../read/refused-syntax.js";
import type * as acorn from "acorn";
import { bindPattern } from "./assignments.js";
import type { Lowering } from "./lowering.js";
import { functionBody, lowerStatements } from "./statements.js";
import { assignedNames } from "../read/reassigned.js";
import { jumps, namesOf } from "../read/syntax.js";
import { Scope, type FunctionValue, type LoweredValue } from "./values.js";

/** Replaces a call by the function's body. */
export function inline(cx: Lowering, fn: FunctionValue, args: readonly LoweredValue[], node: acorn.Node): LoweredValue {
  if (cx.stack.some((f) => f.node === fn.node)) return cx.fail(node, `${fn.name || "the function"} calls itself`, NO_RECURSION);
  const scope = new Scope(fn.scope);
  const { source, path } = cx;
  cx.stack.push(fn);
  cx.path = `${path}/${node.start}>${fn.name}`;
  cx.source = fn.source;
  try {
    bindArguments(cx, fn, args, scope);
    const value = body(cx, fn, scope);
    // So that an expression nests no deeper than few functions.
    return cx.stack.length % 32 === 0 ? cx.materialise(value, node) : value;
  } finally {
    cx.stack.pop();
    cx.source = source;
    cx.path = path;
  }
}

/** Numbers are handed over by value, all else by reference; a parameter that the function assigns becomes a local. */
function bindArguments(cx: Lowering, fn: FunctionValue, args: readonly LoweredValue[], scope: Scope): void {
  const changed = assignedNames(fn.node.body);
  fn.node.params.forEach((p, i) => {
    const value = args[i] ?? { kind: "void" };
    if (value.kind === "void" && p.type !== "AssignmentPattern")
      cx.fail(p, `${fn.name} needs ${fn.node.params.length} arguments, and is given ${args.length}`);
    const own = [...namesOf(p)].some((name) => changed.has(name));
    if (p.type === "Identifier" && !own) scope.bind(p.name, cx.materialise(value, p, p.name));
    else bindPattern(cx, p, value, scope, !own);
  });
}

function body(cx: Lowering, fn: FunctionValue, scope: Scope): LoweredValue {
  const { body } = fn.node;
  if (body.type !== "BlockStatement") return cx.expression(body, scope);
  const early = body.body.slice(0, -1);
  const last = body.body[body.body.length - 1];
  if (last?.type !== "ReturnStatement" || !last.argument || early.some(jumps))
    return functionBody(cx, fn.name || "the function", body, scope);
  lowerStatements(cx, early, scope, { key: cx.path, returns: {} });
  return cx.expression(last.argument, scope);
}
