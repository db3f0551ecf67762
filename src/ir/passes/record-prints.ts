import { int } from "../expressions.js";
import { PRINT_LIMIT, printedType, prints } from "../print-records.js";
import type { KernelIR, PrintedType, Prints, Stmt, ViewParam } from "../types.js";
import { blocksOf, flatMapStmts, mapBlocks, mapStmts, walkStmts } from "../walk.js";
import { FreshNames } from "./copy.js";

type Print = Extract<Stmt, { kind: "print" }>;

/**
 * The kernel with the lines that it prints recorded in new views, the last parameters: whoever prints takes the next place by raising `count`, and
 * where there is one fills its row with the number of the site and with the values. The host makes text of them.
 */
export function recordPrints(kernel: KernelIR): KernelIR {
  if (!prints(kernel.body)) return kernel;
  const ir = printOnce(kernel);
  const names = new FreshNames(ir);
  const sites: Prints["sites"][number][] = [];
  const widths: Record<PrintedType, number> = { i32: 1, f32: 0, f64: 0 };
  const numbered = (stmt: Print): Print => {
    const used: Record<PrintedType, number> = { i32: 1, f32: 0, f64: 0 };
    const items = stmt.items.map((item) => (typeof item === "string" ? item : { type: item.type, at: used[printedType(item.type)]++ }));
    for (const type of TYPES) widths[type] = Math.max(widths[type], used[type]);
    return { ...stmt, site: sites.push(items) - 1 };
  };
  const body = mapStmts(ir.body, { stmt: (stmt) => (stmt.kind === "print" ? numbered(stmt) : stmt) });
  const view = (wish: string, element: PrintedType, rank: number): ViewParam => ({
    kind: "view",
    name: names.fresh(wish),
    element,
    rank,
    disjoint: true,
  });
  const count = view("printed", "i32", 1);
  const rows = TYPES.map((type) => (widths[type] > 0 ? { type, view: view(`printed_${type}`, type, 2) } : undefined));
  const row = (type: PrintedType): Prints["rows"][PrintedType] => {
    const found = rows.find((one) => one?.type === type);
    return found && { view: found.view.name, width: widths[type] };
  };
  return {
    ...ir,
    params: [...ir.params, count, ...rows.flatMap((one) => one?.view ?? [])],
    body,
    prints: { count: count.name, rows: { i32: row("i32"), f32: row("f32"), f64: row("f64") }, sites },
  };
}

const TYPES: readonly PrintedType[] = ["i32", "f32", "f64"];

/** The shape of a row view: a row for each line. */
export const rowsShape = (width: number): [number, number] => [PRINT_LIMIT, width];

/** The kernel with what several members of a team, or lanes of a member, would print at once printed by one of them. */
export function printOnce(ir: KernelIR): KernelIR {
  if (ir.policy.kind !== "team") return ir;
  const names = new FreshNames(ir);
  const isShared = ({ kind }: Stmt): boolean => kind === "teamFor" || kind === "teamReduce";
  const hasLanes = (loop: Stmt): boolean => {
    let found = false;
    for (const block of blocksOf(loop)) walkStmts(block, (stmt) => (found ||= isShared(stmt)));
    return found;
  };
  const inTeam = (stmt: Stmt): Stmt => {
    if (stmt.kind === "print") return { kind: "single", body: [stmt], location: stmt.location };
    if (stmt.kind === "single") return stmt;
    if (isShared(stmt)) return hasLanes(stmt) ? mapBlocks(stmt, (block) => flatMapStmts(block, inMember)) : stmt;
    return mapBlocks(stmt, (block) => flatMapStmts(block, inTeam));
  };
  const inMember = (stmt: Stmt): Stmt => {
    if (stmt.kind === "print") return { kind: "teamFor", name: names.fresh("once"), count: int(1), body: [stmt], location: stmt.location };
    return isShared(stmt) ? stmt : mapBlocks(stmt, (block) => flatMapStmts(block, inMember));
  };
  return prints(ir.body) ? { ...ir, body: flatMapStmts(ir.body, inTeam) } : ir;
}
