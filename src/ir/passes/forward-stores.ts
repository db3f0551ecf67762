import { heldValue } from "../held.js";
import type { ElementType } from "../scalars.js";
import { unreachable } from "../../base/unreachable.js";
import { affineOf, definitionsOf, isConstant, addAffine, scaleAffine, type Affine, type Definitions } from "../analysis/affine.js";
import { printExpr } from "../kernel-text.js";
import type { Expr, KernelIR, Stmt } from "../types.js";
import { FreshNames } from "./copy.js";
import { assignedLocals, blocksOf, exprsOf, mapBlocks, mapExpr, mapOwnExprs, someExpr, walkExpr, walkStmts } from "../walk.js";

/**
 * Takes what an element has just stored from a local instead of reading it back, and drops stores that are overwritten before anything reads
 * them. No bit of any result changes, provided that no two views share memory. Team kernels, whose members store side by side, stay as they are.
 * Gives the same object where there is nothing of either kind.
 */
export function forwardStores(ir: KernelIR): KernelIR {
  if (ir.policy.kind === "team") return ir;
  const refs = new ElementRefs(ir);
  const forwarding = new StoreForwarding(ir, refs);
  const forwarded = forwarding.block(ir.body, new Map());
  const body = withoutOverwritten(forwarded, new Map(), refs);
  return forwarding.took || storesIn(body) < storesIn(forwarded) ? { ...ir, body } : ir;
}

type Store = Extract<Stmt, { kind: "store" }>;

function storesIn(body: readonly Stmt[]): number {
  let count = 0;
  walkStmts(body, ({ kind }) => {
    if (kind === "store") count++;
  });
  return count;
}

/** An element of a view, by indices that mean the same wherever they stand in the body. */
export interface ElementRef {
  key: string;
  view: string;
  indices: readonly (Affine | undefined)[];
}

/** Places of accesses, as they are compared. */
export class ElementRefs {
  private readonly assigned: Set<string>;
  private readonly definitions: Definitions;
  private readonly known = new Map<string, ElementRef>();

  constructor(ir: KernelIR) {
    this.assigned = assignedLocals(ir.body);
    this.definitions = definitionsOf(ir.body);
  }

  /** Undefined if the indices depend on memory or on locals that change. */
  at(view: string, indices: readonly Expr[]): ElementRef | undefined {
    return indices.every((index) => this.isLasting(index)) ? this.any(view, indices) : undefined;
  }

  /** The same without that care: for asking what the access may touch. */
  any(view: string, indices: readonly Expr[]): ElementRef {
    const key = view + indices.map((index) => `[${printExpr(index)}]`).join("");
    let ref = this.known.get(key);
    if (!ref) {
      ref = { key, view, indices: indices.map((index) => affineOf(index, this.definitions)) };
      this.known.set(key, ref);
    }
    return ref;
  }

  /** True if the expression has one value wherever it stands. */
  isLasting(expr: Expr): boolean {
    return !someExpr(expr, (node) => node.op === "load" || node.op === "element" || (node.op === "local" && this.assigned.has(node.name)));
  }
}

/** False if the places are certainly not the same element: along some axis they are a constant apart. */
export function mayAlias(a: ElementRef, b: ElementRef): boolean {
  return (
    a.view === b.view &&
    a.indices.every((form, axis) => {
      const other = b.indices[axis];
      const apart = form && other && addAffine(form, scaleAffine(other, -1));
      return !apart || !isConstant(apart) || apart.constant === 0;
    })
  );
}

function forget<T>(known: Map<string, T>, touched: ElementRef, refOf: (entry: T) => ElementRef): void {
  for (const [key, entry] of known) if (mayAlias(refOf(entry), touched)) known.delete(key);
}

/** A statement of the new body; a store whose value is read back gets a local of its own. */
interface Slot {
  stmt: Stmt;
  local?: Stmt & { kind: "let" };
}
interface Stored {
  ref: ElementRef;
  slot: Slot & { stmt: Store };
}

/** Values certainly stored at a point of the body, by place. */
type Known = Map<string, Stored>;

class StoreForwarding {
  /** Whether any value was taken from what was stored. */
  took = false;
  private readonly names: FreshNames;
  private readonly elements: ReadonlyMap<string, ElementType>;

  constructor(
    ir: KernelIR,
    private readonly refs: ElementRefs,
  ) {
    this.names = new FreshNames(ir);
    this.elements = new Map(ir.params.flatMap((p) => (p.kind === "view" ? [[p.name, p.element]] : [])));
  }

  /** `known` is brought up to the end of the block. */
  block(stmts: readonly Stmt[], known: Known): Stmt[] {
    const slots = stmts.map((stmt) => this.stmt(stmt, known));
    return slots.flatMap(({ stmt, local }) => (local ? [local, stmt] : [stmt]));
  }

  private stmt(before: Stmt, known: Known): Slot {
    // Forgets what a loop stores: it is unknown in the next iteration.
    if (before.kind !== "if") this.forgetStores(blocksOf(before), known);
    const stmt = mapOwnExprs(before, (expr) => this.expr(expr, known));
    const slot: Slot = { stmt: mapBlocks(stmt, (block) => this.block(block, new Map(known))) };
    if (stmt.kind === "if") this.forgetStores(blocksOf(stmt), known);
    if (stmt.kind === "store") {
      forget(known, this.refs.any(stmt.view, stmt.indices), (stored) => stored.ref);
      const ref = this.refs.at(stmt.view, stmt.indices);
      if (ref && this.held(stmt)) known.set(ref.key, { ref, slot: slot as Stored["slot"] });
    }
    return slot;
  }

  private forgetStores(blocks: readonly Stmt[][], known: Known): void {
    for (const block of blocks)
      walkStmts(block, (stmt) => {
        if (stmt.kind === "store") forget(known, this.refs.any(stmt.view, stmt.indices), (stored) => stored.ref);
      });
  }

  private expr(root: Expr, known: Known): Expr {
    return mapExpr(root, (node) => {
      const ref = node.op === "load" ? this.refs.at(node.view, node.indices) : undefined;
      const stored = ref && known.get(ref.key);
      return stored ? this.read(stored.slot) : node;
    });
  }

  /** See `heldValue`. */
  private held({ view, value }: Store): Expr | undefined {
    return heldValue(this.elements.get(view)!, value);
  }

  /** The value that lies in memory after the store. */
  private read(slot: Stored["slot"]): Expr {
    this.took = true;
    const { stmt } = slot;
    if (slot.local) return stmt.value;
    const value = this.held(stmt)!;
    if (isLeaf(value) && this.refs.isLasting(value)) return value;
    const name = this.names.fresh(`${stmt.view}_value`);
    slot.local = { kind: "let", name, type: value.type, init: value, location: stmt.location };
    slot.stmt = { ...stmt, value: { op: "local", type: value.type, name } };
    return slot.stmt.value;
  }
}

const isLeaf = ({ op }: Expr): boolean => op === "const" || op === "local" || op === "param" || op === "index";

/** The statements without stores that are overwritten later before anything reads them; `later` holds what is, and is brought up to the start. */
function withoutOverwritten(stmts: readonly Stmt[], later: Map<string, ElementRef>, refs: ElementRefs): Stmt[] {
  const kept: Stmt[] = [];
  for (const stmt of stmts.toReversed()) {
    if (stmt.kind === "store") {
      const ref = refs.at(stmt.view, stmt.indices);
      if (ref && later.has(ref.key)) continue;
      if (ref) later.set(ref.key, ref);
    }
    kept.push(sweepInside(stmt, later, refs));
    for (const expr of exprsOf(stmt)) forgetReads(expr, later, refs);
  }
  return kept.reverse();
}

/** Keeps the places that both branches overwrite. */
function sweepBranches(stmt: Stmt, later: Map<string, ElementRef>, refs: ElementRefs): Stmt {
  const branches: Map<string, ElementRef>[] = [];
  const swept = mapBlocks(stmt, (block) => {
    const own = new Map(later);
    branches.push(own);
    return withoutOverwritten(block, own, refs);
  });
  later.clear();
  for (const [key, ref] of branches[0]!) if (branches[1]!.has(key)) later.set(key, ref);
  return swept;
}

function sweepInside(stmt: Stmt, later: Map<string, ElementRef>, refs: ElementRefs): Stmt {
  switch (stmt.kind) {
    case "if":
      return sweepBranches(stmt, later, refs);
    // A jump leads to where other places are overwritten.
    case "break":
    case "continue":
      later.clear();
      return stmt;
    case "let":
    case "assign":
    case "array":
    case "setElement":
    case "store":
    case "scatter":
    case "atomic":
    case "reduce":
    case "reduceJointly":
    case "print":
    case "for":
    case "while":
    case "teamFor":
    case "teamReduce":
    case "single": {
      const swept = mapBlocks(stmt, (block) => withoutOverwritten(block, new Map(), refs));
      for (const block of blocksOf(stmt)) walkStmts(block, (inner) => exprsOf(inner).forEach((expr) => forgetReads(expr, later, refs)));
      return swept;
    }
    default:
      return unreachable(stmt);
  }
}

function forgetReads(expr: Expr, later: Map<string, ElementRef>, refs: ElementRefs): void {
  if (later.size === 0) return;
  walkExpr(expr, (node) => {
    if (node.op === "load") forget(later, refs.any(node.view, node.indices), (ref) => ref);
  });
}
