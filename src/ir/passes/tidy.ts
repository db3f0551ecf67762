import type { Expr, KernelIR, Stmt } from "../types.js";
import { unreachable } from "../../base/unreachable.js";
import { assignedLocals, changeOf, exprsOf, hasChecks, hasJump, mapBlocks, someExpr, walkExpr, walkExprs, walkStmts } from "../walk.js";

/** Removes locals and private arrays that nothing reads, with the assignments to them, and what that leaves empty. Expressions but those that check an index have no side effects. */
export function removeDead(ir: KernelIR): KernelIR {
  const reads = new Reads(ir.body);
  let body = ir.body;
  for (;;) {
    const before = body;
    body = reads.withoutDead(before);
    if (body === before) return body === ir.body ? ir : { ...ir, body };
  }
}

/** How often locals and private arrays are read. */
class Reads {
  private readonly counts = new Map<string, number>();

  constructor(body: readonly Stmt[]) {
    walkStmts(body, (stmt) => this.count(stmt, 1));
  }

  /** The statements but those whose results nobody reads. From the last to the first: what they read may then be dead, too. */
  withoutDead(stmts: readonly Stmt[]): Stmt[] {
    const kept: Stmt[] = [];
    let changed = false;
    for (let n = stmts.length - 1; n >= 0; n--) {
      const stmt = this.withoutResult(mapBlocks(stmts[n]!, (block) => this.withoutDead(block)));
      changed ||= stmt !== stmts[n];
      if (!this.isDead(stmt) || exprsOf(stmt).some(hasChecks)) kept.push(stmt);
      else {
        this.count(stmt, -1);
        changed = true;
      }
    }
    return changed ? kept.reverse() : (stmts as Stmt[]);
  }

  private isUnread({ result }: Extract<Stmt, { kind: "atomic" }>): boolean {
    return result === undefined || !this.counts.get(result);
  }

  /** An atomic statement whose old value nobody reads does not declare it. */
  private withoutResult(stmt: Stmt): Stmt {
    if (stmt.kind !== "atomic" || stmt.result === undefined || !this.isUnread(stmt)) return stmt;
    const { result: _, ...rest } = stmt;
    return rest;
  }

  private isDead(stmt: Stmt): boolean {
    switch (stmt.kind) {
      case "let":
      case "assign":
      case "array":
        return !this.counts.get(stmt.name);
      case "setElement":
        return !this.counts.get(stmt.array);
      case "if":
        return stmt.then.length + stmt.else.length === 0;
      case "for":
        return stmt.body.length === 0;
      case "atomic":
        return stmt.fn === "load" && this.isUnread(stmt);
      case "while":
      case "store":
      case "scatter":
      case "reduce":
      case "reduceJointly":
      case "print":
      case "break":
      case "continue":
      case "teamFor":
      case "teamReduce":
      case "single":
        return false;
      default:
        return unreachable(stmt);
    }
  }

  /** Counts the reads of the statement itself, except of its own name: `x = x + 1` alone does not keep x. */
  private count(stmt: Stmt, times: 1 | -1): void {
    const change = changeOf(stmt);
    const own = change?.kind === "local" || change?.kind === "array" ? change.name : undefined;
    for (const expr of exprsOf(stmt))
      walkExpr(expr, (node) => {
        const name = node.op === "local" ? node.name : node.op === "element" ? node.array : undefined;
        if (name !== undefined && name !== own) this.counts.set(name, (this.counts.get(name) ?? 0) + times);
      });
  }
}

/**
 * Removes first values that are never read: `let x = 0; ...; x = e` in one block becomes `...; let x = e`, and of two assignments
 * without a read between them the first goes.
 */
export function removeOverwritten(ir: KernelIR): KernelIR {
  const assigned = assignedLocals(ir.body);
  const body = assigned.size === 0 ? ir.body : new Overwritten(assigned).block(ir.body).stmts;
  return body === ir.body ? ir : { ...ir, body };
}

/** Statements, and the assigned locals that they read or assign. */
interface Cleaned {
  readonly stmts: Stmt[];
  readonly mentioned: ReadonlySet<string>;
}

class Overwritten {
  constructor(private readonly assigned: ReadonlySet<string>) {}

  block(stmts: readonly Stmt[]): Cleaned {
    const mentions: ReadonlySet<string>[] = [];
    const block = stmts.map((stmt) => {
      const own = new Set<string>();
      const cleaned = mapBlocks(stmt, (inner) => {
        const { stmts: kept, mentioned } = this.block(inner);
        for (const name of mentioned) own.add(name);
        return kept;
      });
      for (const expr of exprsOf(cleaned))
        walkExpr(expr, (node) => {
          if (node.op === "local" && this.assigned.has(node.name)) own.add(node.name);
        });
      if (cleaned.kind === "assign") own.add(cleaned.name);
      mentions.push(own);
      return cleaned;
    });
    const next = nextMentions(block, mentions);
    const dropped = block.map(() => false);
    block.forEach((stmt, at) => {
      if (stmt.kind !== "let" && stmt.kind !== "assign") return;
      const second = block[next[at]!];
      if (second?.kind !== "assign" || second.name !== stmt.name || reads(second.value, stmt.name)) return;
      // Keeps it before a jump, which could lead to a read of the first value; the first value of a `let` is out of scope there.
      if (stmt.kind === "assign" && hasJump(block.slice(at, next[at]))) return;
      dropped[at] = true;
      if (stmt.kind === "let")
        block[next[at]!] = { kind: "let", name: stmt.name, type: stmt.type, init: second.value, location: second.location };
    });
    const mentioned = new Set<string>();
    mentions.forEach((names, at) => {
      if (!dropped[at]) for (const name of names) mentioned.add(name);
    });
    const same = block.every((stmt, at) => stmt === stmts[at] && !dropped[at]);
    return { stmts: same ? (stmts as Stmt[]) : block.filter((_, at) => !dropped[at]), mentioned };
  }
}

/** For each statement that gives a local its value: the next of its block that reads or assigns it; -1 where there is none. */
function nextMentions(block: readonly Stmt[], mentions: readonly ReadonlySet<string>[]): number[] {
  const next = block.map(() => -1);
  const seen = new Map<string, number>();
  for (let at = block.length - 1; at >= 0; at--) {
    const stmt = block[at]!;
    if (stmt.kind === "let" || stmt.kind === "assign") next[at] = seen.get(stmt.name) ?? -1;
    for (const name of mentions[at]!) seen.set(name, at);
  }
  return next;
}

const reads = (expr: Expr, name: string): boolean => someExpr(expr, (node) => node.op === "local" && node.name === name);

/** Removes tables that no code reads. */
export function removeUnusedTables(ir: KernelIR): KernelIR {
  const used = new Set<string>();
  walkExprs(ir.body, (node) => {
    if (node.op === "table") used.add(node.table);
  });
  return ir.tables.every((table) => used.has(table.name)) ? ir : { ...ir, tables: ir.tables.filter((table) => used.has(table.name)) };
}
