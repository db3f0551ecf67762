import { evaluateBinary, evaluateCall, evaluateCast, evaluateComparison, evaluateUnary } from "../../src/ir/evaluate.js";
import { lastOf } from "../../src/ir/loop-stops.js";
import type { PlainValue } from "../../src/ir/evaluate.js";
import type { Expr, KernelIR, NumericType, Stmt } from "../../src/ir/types.js";

/** Arrays of one axis, by name; reductions and scatter targets too. */
export type Memory = Record<string, number[]>;

/**
 * Runs a range kernel over arrays in `memory`, element by element along its last axis, with its other indices at `outer`: the plainest reading
 * of the IR there is.
 */
export function interpret(
  ir: KernelIR,
  extent: number,
  memory: Memory,
  scalars: Record<string, PlainValue>,
  outer: readonly number[] = [],
): void {
  const tables = new Map(ir.tables.map((table) => [table.name, table.values]));
  for (let i = 0; i < extent; i++) {
    const locals = new Map<string, PlainValue>();
    const arrays = new Map<string, number[]>();
    let failed = false;

    const known = <T>(value: T | undefined, what: string): T => {
      if (value === undefined) throw new Error(`${what} has no value`);
      return value;
    };
    const at = (name: string, list: number[] | undefined, index: PlainValue) =>
      known(known(list, name)[index as number], `${name}[${index}]`);
    const num = (expr: Expr) => value(expr) as number;

    function value(expr: Expr): PlainValue {
      switch (expr.op) {
        case "const":
          return expr.value;
        case "local":
          return known(locals.get(expr.name), expr.name);
        case "param":
          return known(scalars[expr.name], expr.name);
        case "index":
          return [...outer, i][expr.axis];
        case "load":
          return at(expr.view, memory[expr.view], value(expr.indices[0]));
        case "element":
          return at(expr.array, arrays.get(expr.array), value(expr.index));
        case "table":
          return at(expr.table, tables.get(expr.table) as number[] | undefined, value(expr.indices[0]));
        case "extent":
          return memory[expr.view].length;
        case "unary":
          return evaluateUnary(expr.fn, expr.type, value(expr.a));
        case "binary":
          return evaluateBinary(expr.fn, expr.type as NumericType, num(expr.a), num(expr.b));
        case "compare":
          return evaluateComparison(expr.fn, value(expr.a), value(expr.b));
        case "logical":
          return value(expr.a) === (expr.fn === "or") ? expr.fn === "or" : value(expr.b);
        case "select":
          return value(value(expr.cond) ? expr.a : expr.b);
        case "cast":
          return evaluateCast(expr.type, expr.a.type, value(expr.a));
        case "checked": {
          const index = num(expr.index);
          if (index >= 0 && index < num(expr.extent)) return index;
          failed = true;
          return expr.otherwise;
        }
        case "failed":
          return failed;
        case "call":
          return evaluateCall(expr.fn, expr.type, expr.args.map(num));
        case "teamSize":
          throw new Error("a range kernel has no team");
      }
    }

    /** What ends the block early, if anything does. */
    function run(stmts: readonly Stmt[]): "break" | "continue" | undefined {
      for (const stmt of stmts) {
        const jump = step(stmt);
        if (jump) return jump;
      }
      return undefined;
    }

    function step(stmt: Stmt): "break" | "continue" | undefined {
      switch (stmt.kind) {
        case "let":
          if (stmt.init) locals.set(stmt.name, value(stmt.init));
          else locals.delete(stmt.name);
          return undefined;
        case "assign":
          locals.set(stmt.name, value(stmt.value));
          return undefined;
        case "array":
          arrays.set(stmt.name, Array<number>(stmt.length).fill(0));
          return undefined;
        case "setElement":
          put(arrays.get(stmt.array), stmt.index, stmt.value);
          return undefined;
        case "store":
          put(memory[stmt.view], stmt.indices[0], stmt.value);
          return undefined;
        case "scatter":
        case "reduce": {
          const target = memory[stmt.target];
          const place = stmt.kind === "scatter" ? num(stmt.indices[0]) : 0;
          target[place] = evaluateBinary("add", stmt.value.type as NumericType, target[place], num(stmt.value));
          return undefined;
        }
        case "if":
          return run(value(stmt.cond) ? stmt.then : stmt.else);
        case "for": {
          const last = lastOf(stmt.stop);
          const stop = last ? num(last) + Math.sign(stmt.step) : num(stmt.stop);
          for (let turn = num(stmt.start); stmt.step > 0 ? turn < stop : turn > stop; turn += stmt.step) {
            locals.set(stmt.name, turn);
            if (run(stmt.body) === "break") break;
          }
          return undefined;
        }
        case "while":
          for (let turns = 0; value(stmt.cond); turns++) {
            if (turns > 1000) throw new Error("a loop does not end");
            if (run(stmt.body) === "break") break;
            run(stmt.update);
          }
          return undefined;
        case "break":
        case "continue":
          return stmt.kind;
        default:
          throw new Error(`a range kernel has no ${stmt.kind}`);
      }
    }

    function put(list: number[] | undefined, index: Expr, of: Expr): void {
      at("array", list, value(index));
      list![value(index) as number] = num(of);
    }

    run(ir.body);
  }
}
