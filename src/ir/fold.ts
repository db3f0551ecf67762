import { binary, call, cast, compare, isFloat, unary, wrap } from "./evaluate.js";
import type { Value } from "./evaluate.js";
import type { BinaryFn, CompareFn, Expr, KernelIR, NumericType, ScalarType, Stmt, Table } from "./types.js";
import { assignedLocals, blocksOf, declares, mapBlocks, mapChildren, mapKernel, mapOwnExprs, walkStmts } from "./walk.js";

type Const = Extract<Expr, { op: "const" }>;

/**
 * Evaluates what is constant, with the bits that it would have at run time, puts constants and copies in place of the locals that hold
 * them at that point, and removes branches and loops that cannot run. Float arithmetic is only simplified where no bit can change: x * 1, x / 1, x - 0.
 */
export function fold(ir: KernelIR): KernelIR {
  const folder = new Folder(ir.tables, ir.body);
  return mapKernel(
    ir,
    (body) => folder.block(body),
    (expr) => folder.expr(expr),
  );
}

/** Folds one expression by itself; locals stay as they are. */
export const foldExpr = (expr: Expr, tables: readonly Table[]): Expr => new Folder(tables, []).expr(expr);

class Folder {
  private readonly tables: Map<string, Table>;
  /** Locals that are never assigned, and what to write in their place. */
  private readonly known = new Map<string, Expr>();
  /** Constants that other locals hold at the statement that is being folded. */
  private current = new Map<string, Const>();
  private readonly assigned: Set<string>;
  private readonly declared = new Set<string>();

  constructor(tables: readonly Table[], body: readonly Stmt[]) {
    this.tables = new Map(tables.map((table) => [table.name, table]));
    this.assigned = assignedLocals(body);
    walkStmts(body, (stmt) => declares(stmt).forEach((name) => this.declared.add(name)));
  }

  /** Statements after a `break` or `continue` never run. */
  block(stmts: readonly Stmt[]): Stmt[] {
    const folded: Stmt[] = [];
    for (const stmt of stmts) {
      folded.push(...this.stmt(stmt));
      const last = folded.at(-1);
      if (last?.kind === "break" || last?.kind === "continue") break;
    }
    return folded;
  }

  private stmt(before: Stmt): Stmt[] {
    // What a body assigns is not known in its next turn.
    const repeats = before.kind !== "if";
    if (repeats) this.forget(blocksOf(before));
    const stmt = mapOwnExprs(before, (expr) => this.expr(expr));
    switch (stmt.kind) {
      case "let":
      case "assign":
        this.hold(stmt.name, stmt.kind === "let" ? stmt.init : stmt.value);
        return [stmt];
      case "if":
        return this.branch(stmt);
      case "while":
        if (stmt.cond.op === "const" && !stmt.cond.value) return [];
        break;
      case "for":
        if (
          stmt.start.op === "const" &&
          stmt.stop.op === "const" &&
          (stmt.step > 0 ? stmt.start.value >= stmt.stop.value : stmt.start.value <= stmt.stop.value)
        )
          return [];
        break;
    }
    const folded = mapBlocks(stmt, (block) => {
      const inner = this.block(block);
      this.forget(blocksOf(before));
      return inner;
    });
    return [folded];
  }

  private branch(stmt: Extract<Stmt, { kind: "if" }>): Stmt[] {
    if (stmt.cond.op === "const") return this.block(stmt.cond.value ? stmt.then : stmt.else);
    const before = new Map(this.current);
    const then = this.block(stmt.then);
    const afterThen = this.current;
    this.current = before;
    const otherwise = this.block(stmt.else);
    for (const [name, { value }] of this.current) if (!Object.is(afterThen.get(name)?.value, value)) this.current.delete(name);
    if (then.length + otherwise.length === 0) return [];
    if (then.length > 0) return [{ ...stmt, then, else: otherwise }];
    return [{ ...stmt, cond: simplify({ op: "unary", type: "bool", fn: "not", a: stmt.cond }), then: otherwise, else: [] }];
  }

  /** Notes the value that a local takes. */
  private hold(name: string, value: Expr | undefined): void {
    if (!this.assigned.has(name)) {
      if (value && this.movable(value)) this.known.set(name, value);
    } else if (value?.op === "const") this.current.set(name, value);
    else this.current.delete(name);
  }

  private forget(blocks: readonly Stmt[][]): void {
    if (this.current.size > 0) for (const block of blocks) for (const name of assignedLocals(block)) this.current.delete(name);
  }

  /** True for an expression that means the same wherever the local stands, at no cost. */
  private movable(expr: Expr): boolean {
    return expr.op === "local"
      ? this.declared.has(expr.name) && !this.assigned.has(expr.name)
      : ["const", "index", "param", "extent", "teamSize"].includes(expr.op);
  }

  /** Conditions first, so that nothing is made of a side that is not chosen. */
  expr(expr: Expr): Expr {
    if (expr.op === "select") {
      const cond = this.expr(expr.cond);
      if (cond.op === "const") return this.expr(cond.value ? expr.a : expr.b);
      return { ...expr, cond, a: this.expr(expr.a), b: this.expr(expr.b) };
    }
    if (expr.op === "logical") {
      const a = this.expr(expr.a);
      const decided = expr.fn === "or";
      if (a.op === "const") return a.value === decided ? a : this.expr(expr.b);
      const b = this.expr(expr.b);
      if (b.op === "const") return b.value === decided ? b : a;
      return { ...expr, a, b };
    }
    if (expr.op === "local") return this.known.get(expr.name) ?? this.current.get(expr.name) ?? expr;
    const mapped = mapChildren(expr, (child) => this.expr(child));
    return mapped.op === "table" ? this.table(mapped) : simplify(mapped);
  }

  /** An index outside the table is left for the check of bounds. */
  private table(expr: Extract<Expr, { op: "table" }>): Expr {
    const { shape, values } = this.tables.get(expr.table)!;
    let at = 0;
    for (const [axis, index] of expr.indices.entries()) {
      if (index.op !== "const" || !((index.value as number) >= 0 && (index.value as number) < shape[axis])) return expr;
      at = at * shape[axis] + (index.value as number);
    }
    return literal(expr.type, values[at]);
  }
}

export const literal = (type: ScalarType, value: Value): Const => ({ op: "const", type, value });

const INVERSE: Record<CompareFn, CompareFn> = { eq: "ne", ne: "eq", lt: "ge", ge: "lt", gt: "le", le: "gt" };

/** One step of folding at the root of an expression whose children are folded. */
function simplify(expr: Expr): Expr {
  switch (expr.op) {
    case "unary": {
      const { a, fn } = expr;
      if (a.op === "const") return literal(expr.type, unary(fn, expr.type, a.value));
      if (a.op === "unary" && a.fn === fn && (fn === "neg" || fn === "not" || fn === "bitnot")) return a.a;
      // With a NaN both < and >= are false, so only == and != have an inverse on floats.
      if (fn === "not" && a.op === "compare" && (!isFloat(a.a.type) || a.fn === "eq" || a.fn === "ne")) return { ...a, fn: INVERSE[a.fn] };
      return expr;
    }
    case "binary":
      return simplifyBinary(expr);
    case "compare":
      return expr.a.op === "const" && expr.b.op === "const" ? literal("bool", compare(expr.fn, expr.a.value, expr.b.value)) : expr;
    case "cast":
      return simplifyCast(expr);
    case "call": {
      const args = expr.args.filter((arg): arg is Const => arg.op === "const");
      return args.length === expr.args.length
        ? literal(
            expr.type,
            call(
              expr.fn,
              expr.type,
              args.map((arg) => arg.value as number),
            ),
          )
        : expr;
    }
    default:
      return expr;
  }
}

function simplifyBinary(expr: Extract<Expr, { op: "binary" }>): Expr {
  const { fn, a, b } = expr;
  const type = expr.type as NumericType;
  if (a.op === "const" && b.op === "const") return literal(type, binary(fn, type, a.value as number, b.value as number));
  const isNumber = (side: Expr, value: number) => side.op === "const" && Object.is(side.value, value);
  if (fn === "mul" && (isNumber(a, 1) || isNumber(b, 1))) return isNumber(a, 1) ? b : a;
  if ((fn === "div" && isNumber(b, 1)) || (fn === "sub" && isNumber(b, 0))) return a;
  if (isFloat(type)) return expr;

  const zeroLeaves: BinaryFn[] = ["add", "or", "xor"];
  if (isNumber(b, 0)) {
    if (zeroLeaves.includes(fn) || fn === "shl" || fn === "shr") return a;
    if (fn === "mul" || fn === "and" || fn === "mulhi") return b;
  }
  if (isNumber(a, 0)) {
    if (zeroLeaves.includes(fn)) return b;
    if (fn === "mul" || fn === "and" || fn === "mulhi") return a;
  }
  return gatherConstants(expr);
}

/** (x + 2) - 3 becomes x - 1: integer sums wrap, so they may be regrouped. The constant goes to the right, without a sign. */
function gatherConstants(expr: Extract<Expr, { op: "binary" }>): Expr {
  const { fn, type, a, b } = expr;
  if (fn === "add" && a.op === "const") return gatherConstants({ ...expr, a: b, b: a });
  const outer = shiftOf(expr);
  if (outer === undefined) return expr;
  const inner = a.op === "binary" ? shiftOf(a) : undefined;
  const base = inner === undefined ? a : (a as typeof expr).a;
  const total = (outer + (inner ?? 0)) | 0;
  if (total === 0) return base;
  return total < 0 && total !== -2147483648
    ? { ...expr, fn: "sub", a: base, b: literal(type, -total) }
    : { ...expr, fn: "add", a: base, b: literal(type, wrap(type as NumericType, total)) };
}

/** s of x + s or x - (-s), as a signed number. */
function shiftOf({ fn, b }: Extract<Expr, { op: "binary" }>): number | undefined {
  if (b.op !== "const" || (fn !== "add" && fn !== "sub")) return undefined;
  return ((fn === "add" ? 1 : -1) * (b.value as number)) | 0;
}

function simplifyCast(expr: Extract<Expr, { op: "cast" }>): Expr {
  const { type, a } = expr;
  if (a.type === type) return a;
  if (a.op === "const") return literal(type, cast(type, a.type, a.value));
  // i32 -> f64 -> i32 and the like: the wider type holds every value of the narrower.
  if (a.op === "cast" && a.a.type === type && a.type === "f64" && type !== "bool") return a.a;
  return (type === "i32" || type === "u32") && (a.type === "i32" || a.type === "u32") ? (reinterpret(a, type) ?? expr) : expr;
}

/** An integer expression done in the other signedness, where its bits are the same and no cast is left in it. */
function reinterpret(expr: Expr, type: "i32" | "u32"): Expr | undefined {
  if (expr.op === "const") return literal(type, cast(type, expr.type, expr.value));
  if (expr.op === "cast") return expr.a.type === type ? expr.a : undefined;
  if (expr.op !== "binary" || !["add", "sub", "mul", "and", "or", "xor", "shl"].includes(expr.fn)) return undefined;
  const a = reinterpret(expr.a, type);
  const b = a && reinterpret(expr.b, type);
  return b && simplify({ ...expr, type, a, b });
}
