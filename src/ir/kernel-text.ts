import { unreachable } from "../base/unreachable.js";
import { BINARY, COMPARE, signOf, UNARY } from "./operators.js";
import { bodyOf } from "./joint.js";
import { isInteger, isUnsigned, type NumericType } from "./scalars.js";
import type { Expr, KernelIR, Param, Stmt } from "./types.js";
import { declares, walkStmts } from "./walk.js";

/** Names for policy indices: `i`, `j`, ... in a range kernel, `team.index` in a team kernel. */
type IndexNames = readonly string[];

const AXES: IndexNames = ["i", "j", "k", "l"];

/** Names of the kernel's policy indices in messages. */
export const indexNames = (ir: KernelIR): IndexNames => (ir.policy.kind === "team" ? ["team.index", "team.place"] : AXES);

/** The kernel as readable pseudo code with types, the same text for the same tree. */
export function printKernel(ir: KernelIR): string {
  const names = distinctIndexNames(ir);
  const policy = ir.policy.kind === "team" ? "team" : `range ${names.slice(0, ir.policy.rank).join(", ")}`;
  const declarations = [
    ...ir.params.map((param) => printParam(param, names)),
    ...ir.tables.map((t) => `table ${t.name}: ${t.type}[${t.shape.join("][")}] = ${t.values.map(plainNumber).join(", ")}`),
  ];
  return (
    [`kernel ${ir.name} (${policy})`, ...declarations.map((line) => `  ${line}`), ...printBlock(ir.body, "  ", names)].join("\n") + "\n"
  );
}

/** Index names that no local takes. */
function distinctIndexNames(ir: KernelIR): IndexNames {
  const taken = new Set(ir.params.map((p) => p.name));
  walkStmts(ir.body, (stmt) => declares(stmt).forEach((name) => taken.add(name)));
  return indexNames(ir).map((name) => {
    while (taken.has(name)) name += "'";
    return name;
  });
}

function printParam(param: Param, names: IndexNames): string {
  switch (param.kind) {
    case "scalar":
      return `scalar ${param.name}: ${param.type}`;
    case "view":
      return `view ${param.name}: ${param.element}${"[]".repeat(param.rank)}${param.disjoint ? " disjoint" : ""}${param.atomic ? " atomic" : ""}`;
    case "scatter":
      return `scatter ${param.name}: ${param.element}${"[]".repeat(param.rank)} ${param.op}`;
    case "reduce": {
      const { combine, joint } = param;
      const fold = combine
        ? `(${combine.a}, ${combine.b}) => ${printExpr(combine.body, names)}`
        : joint
          ? `(${joint.a.join(", ")}; ${joint.b.join(", ")}) => ${printExpr(bodyOf(joint, param.name), names)}`
          : param.op;
      return `reduce ${param.name}: ${param.type} ${fold}, from ${param.identity}`;
    }
    default:
      return unreachable(param);
  }
}

function printBlock(stmts: readonly Stmt[], indent: string, names: IndexNames, sharers = "team"): string[] {
  const e = (expr: Expr) => printExpr(expr, names);
  const at = (indices: readonly Expr[]) => indices.map((index) => `[${e(index)}]`).join("");
  const block = (body: readonly Stmt[], inside = sharers) => printBlock(body, indent + "  ", names, inside);
  return stmts.flatMap((stmt): string[] => {
    switch (stmt.kind) {
      case "let":
        return [`${indent}let ${stmt.name}: ${stmt.type}${stmt.init ? ` = ${e(stmt.init)}` : ""}`];
      case "assign":
        return [`${indent}${stmt.name} = ${e(stmt.value)}`];
      case "array":
        return [`${indent}${stmt.space} ${stmt.name}: ${stmt.type}[${stmt.length}]`];
      case "setElement":
        return [`${indent}${stmt.array}[${e(stmt.index)}] = ${e(stmt.value)}`];
      case "store":
        return [`${indent}${stmt.view}${at(stmt.indices)} = ${e(stmt.value)}`];
      case "scatter":
        return [`${indent}scatter ${stmt.target}${at(stmt.indices)} <- ${e(stmt.value)}`];
      case "atomic": {
        const given = [stmt.expected, stmt.value].flatMap((expr) => (expr ? [e(expr)] : []));
        const before = stmt.result === undefined ? "" : `let ${stmt.result}: ${stmt.type} = `;
        return [`${indent}${before}atomic ${stmt.target}${at(stmt.indices)} ${stmt.fn}(${given.join(", ")})`];
      }
      case "reduce":
        return [`${indent}reduce ${stmt.target} <- ${e(stmt.value)}`];
      case "reduceJointly":
        return [`${indent}reduce ${stmt.targets.join(", ")} <- ${stmt.values.map(e).join(", ")}`];
      case "print":
        return [`${indent}print ${stmt.items.map((item) => (typeof item === "string" ? JSON.stringify(item) : e(item))).join(", ")}`];
      case "if": {
        const rest = stmt.else.length ? [`${indent}else`, ...block(stmt.else)] : [];
        return [`${indent}if ${e(stmt.cond)}`, ...block(stmt.then), ...rest];
      }
      case "for": {
        const step = stmt.step === 1 ? "" : ` step ${stmt.step}`;
        return [`${indent}for ${stmt.name} = ${e(stmt.start)} until ${e(stmt.stop)}${step}`, ...block(stmt.body)];
      }
      case "while": {
        const update = stmt.update.length ? [`${indent}update`, ...block(stmt.update)] : [];
        return [`${indent}while ${e(stmt.cond)}`, ...block(stmt.body), ...update];
      }
      case "break":
      case "continue":
        return [indent + stmt.kind];
      case "teamFor":
        return [`${indent}${sharers} for ${stmt.name} until ${e(stmt.count)}`, ...block(stmt.body, "lanes")];
      case "teamReduce": {
        const results = stmt.results.map((r) => `${r.name}: ${r.type} ${r.op}`).join(", ");
        return [`${indent}${sharers} reduce ${stmt.name} until ${e(stmt.count)} (${results})`, ...block(stmt.body, "lanes")];
      }
      case "single":
        return [`${indent}team single`, ...block(stmt.body)];
      default:
        return unreachable(stmt);
    }
  });
}

/** Binding strengths of expressions outside the table of operators. */
const [LOGICAL_AND, LOGICAL_OR, SELECT, NEGATIVE, ATOM] = [2, 1, 0, 11, 12];

/** The expression with the brackets it needs. Constants show their type: `2.0`, `2.0f`, `2`, `2u`. */
export function printExpr(expr: Expr, names: IndexNames = AXES): string {
  return render(expr, 0);

  function render(node: Expr, context: number): string {
    const [text, precedence] = form(node);
    return precedence < context ? `(${text})` : text;
  }
  function infix(a: Expr, symbol: string, b: Expr, precedence: number): [string, number] {
    return [`${render(a, precedence)} ${symbol} ${render(b, precedence + 1)}`, precedence];
  }
  function call(name: string, args: readonly Expr[]): [string, number] {
    return [`${name}(${args.map((arg) => render(arg, 0)).join(", ")})`, ATOM];
  }
  function subscript(name: string, indices: readonly Expr[]): [string, number] {
    return [name + indices.map((index) => `[${render(index, 0)}]`).join(""), ATOM];
  }

  function form(node: Expr): [text: string, precedence: number] {
    switch (node.op) {
      case "const": {
        const text = printConstant(node);
        return [text, text.startsWith("-") ? NEGATIVE : ATOM];
      }
      case "local":
      case "param":
        return [node.name, ATOM];
      case "index":
        return [names[node.axis]!, ATOM];
      case "teamSize":
        return ["team.size", ATOM];
      case "load":
        return subscript(node.view, node.indices);
      case "table":
        return subscript(node.table, node.indices);
      case "element":
        return subscript(node.array, [node.index]);
      case "extent":
        return [`${node.view}${"[0]".repeat(node.axis)}.length`, ATOM];
      case "unary": {
        const sign = signOf(UNARY[node.fn]);
        return sign ? [sign[0] + render(node.a, sign[1] + 1), sign[1]] : call(node.fn, [node.a]);
      }
      case "binary": {
        const sign = signOf(BINARY[node.fn]);
        if (!sign) return call(node.fn, [node.a, node.b]);
        return infix(node.a, node.fn === "shr" && isUnsigned(node.type) ? ">>>" : sign[0], node.b, sign[1]);
      }
      case "compare": {
        const [sign, strength] = COMPARE[node.fn].sign;
        return infix(node.a, sign, node.b, strength);
      }
      case "logical":
        return node.fn === "and" ? infix(node.a, "&&", node.b, LOGICAL_AND) : infix(node.a, "||", node.b, LOGICAL_OR);
      case "select":
        return [`${render(node.cond, SELECT + 1)} ? ${render(node.a, SELECT + 1)} : ${render(node.b, SELECT)}`, SELECT];
      case "cast":
        return call(node.type, [node.a]);
      case "call":
        return call(node.fn, node.args);
      case "checked":
        return call("checked", [node.index, node.extent]);
      case "failed":
        return ["failed", ATOM];
      default:
        return unreachable(node);
    }
  }
}

/** Ends of constants. */
const SUFFIXES: Readonly<Record<NumericType, string>> = { f64: "", f32: "f", i32: "", u32: "u", i64: "n", u64: "un" };

function printConstant({ type, value }: Extract<Expr, { op: "const" }>): string {
  if (type === "bool") return String(value);
  const digits = plainNumber(value as number | bigint);
  if (isInteger(type)) return digits + SUFFIXES[type];
  const decimal = /^-?\d+$/.test(digits) ? `${digits}.0` : digits;
  return decimal + SUFFIXES[type];
}

const plainNumber = (value: number | bigint): string => (Object.is(value, -0) ? "-0" : String(value));
