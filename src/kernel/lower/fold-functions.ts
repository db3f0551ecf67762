import { KernelError } from "../../base/errors.js";
import type { Expr, JointFold, ReduceParam, Stmt } from "../../ir/types.js";
import { mapExpr } from "../../ir/walk.js";
import type { Kernel } from "../declare/kernel.js";
import type { ReduceToken, StructReduceToken } from "../declare/params.js";
import { parseFunction } from "../read/source.js";
import { inline } from "./inline.js";
import type { Lowering } from "./lowering.js";
import { scalarOperand } from "./operands.js";
import { numbersOfRecord, recordFrom } from "./structs.js";
import type { FunctionValue, LoweredValue } from "./values.js";

/* Folds of reductions that the author gives as functions of two values. */

/** A reduction by a function of the author's. */
interface FoldedBy<Token> {
  readonly kernel: Pick<Kernel, "name" | "location">;
  readonly name: string;
  readonly token: Token;
}

/** The fold of numbers, as an expression over two locals. */
export function foldOfNumbers(
  cx: Lowering,
  main: FunctionValue,
  { kernel, name, token }: FoldedBy<ReduceToken>,
): NonNullable<ReduceParam["combine"]> {
  const source = parseFunction(kernel.name, token.combine!, kernel.location);
  const fold: FunctionValue = { kind: "function", name: `the fold of ${name}`, node: source.node, source, scope: main.scope };
  const locals = [cx.unique("a"), cx.unique("b")];
  const args = locals.map((n): LoweredValue => ({ kind: "scalar", expr: { op: "local", type: token.type, name: n } }));
  cx.stack.push(main);
  const { stmts, value } = cx.collect(() =>
    cx.converted(
      scalarOperand(cx, inline(cx, fold, args, source.node), source.node),
      token.type,
      source.node,
      `${fold.name} gives ${token.type}`,
    ),
  );
  cx.stack.pop();
  if (stmts.length > 0)
    throw new KernelError(kernel.name, source.locate(source.node), `${fold.name} has statements`, "write it as one expression");
  return { a: locals[0], b: locals[1], body: value };
}

/** The fold of a reduction of records, as an expression for each number. */
export function foldOfRecords(
  cx: Lowering,
  main: FunctionValue,
  { kernel, name, parts, token }: FoldedBy<StructReduceToken> & { readonly parts: readonly string[] },
): JointFold {
  const { struct, combine } = token;
  const source = parseFunction(kernel.name, combine, kernel.location);
  const fold: FunctionValue = { kind: "function", name: `the fold of ${name}`, node: source.node, source, scope: main.scope };
  const [a, b] = ["a", "b"].map((side) => parts.map((part) => cx.unique(`${side}_${part}`)));
  const args = [a, b].map((locals): LoweredValue => {
    const left = locals.values();
    return recordFrom(struct, (type) => ({ kind: "scalar", expr: { op: "local", type, name: left.next().value! } }));
  });
  cx.stack.push(main);
  const { stmts, value: given } = cx.collect(() => numbersOfRecord(cx, struct, inline(cx, fold, args, source.node), source.node));
  cx.stack.pop();
  const bodies = withoutLocals(stmts, given);
  if (!bodies)
    throw new KernelError(
      kernel.name,
      source.locate(source.node),
      `${fold.name} has statements other than constants`,
      "write one expression for each field, over constants before them",
    );
  return { parts, a, b, bodies };
}

/** The expressions with locals of the statements before them written out; undefined if these do more than declare. */
function withoutLocals(stmts: readonly Stmt[], bodies: readonly Expr[]): Expr[] | undefined {
  const values = new Map<string, Expr>();
  const written = (expr: Expr): Expr => mapExpr(expr, (node) => (node.op === "local" ? (values.get(node.name) ?? node) : node));
  for (const stmt of stmts) {
    if (stmt.kind !== "let" || !stmt.init) return undefined;
    values.set(stmt.name, written(stmt.init));
  }
  return bodies.map(written);
}
