import { KernelError } from "../../base/errors.js";
import { define, loadInt, localOf, paramOf } from "../../ir/by-name.js";
import { add, cast, ge, index, int, lt, mul, not, select, sub, type Typed } from "../../ir/expressions.js";
import { identityOf } from "../../ir/identity.js";
import { printExpr } from "../../ir/kernel-text.js";
import { FreshNames } from "../../ir/passes/copy.js";
import { forwardStores } from "../../ir/passes/forward-stores.js";
import { optimise } from "../../ir/passes/optimise.js";
import { removeDead } from "../../ir/passes/tidy.js";
import type { Expr, KernelIR, Location, Param, Stmt } from "../../ir/types.js";
import { alwaysEvaluated, changedIn, exprsOf, mapBlocks, mapExpr, mapStmts, someExpr, walkExprs, walkStmts } from "../../ir/walk.js";
import type { KernelWithLists, LoweredList } from "./lists.js";
import { loadsAfterStores, mostPushes, refuseSurplus } from "./list-pushes.js";

/*
 * A kernel with lists becomes three: one counts what each element, or each run of elements, appends; one stores the elements, at places that a scan of these numbers
 * gives; the third does all else. The first two run before the third, and read what was there before it.
 */

/** Elements of a run: neighbours along the last axis that have one counter on a CPU. */
export const LIST_RUN = 256;

/** Code that counts and fills. */
interface ListCode {
  readonly count: KernelIR;
  readonly fill: KernelIR;
}

/** The kernels that one with lists becomes. */
export interface ListKernels {
  readonly lists: readonly (LoweredList & {
    /** Present if the code may append more often than the list says: the reduction of the kernel that counts which takes the greatest number of an element. */
    readonly peak: string | undefined;
  })[];
  /** Over the kernel's own range, with a counter for each element. */
  readonly elements: ListCode;
  /** Over runs along the last axis, with a counter for each. */
  readonly runs: ListCode;
  /** Scalars with the begin of the range along each axis, and with the number of counters. */
  readonly begins: readonly string[];
  readonly extents: readonly string[];
  /** Scalars of the code over runs: begin and number of elements along the last axis. */
  readonly row: { readonly begin: string; readonly extent: string };
  /** Arrays that are changed beside the lists. */
  readonly written: readonly string[];
  /** Nothing but the lists is changed. */
  readonly idle: boolean;
}

/** All that a kernel does beside its lists; itself where it has none. */
export function withoutLists({ lists, ...ir }: KernelWithLists): KernelIR {
  if (!lists) return ir;
  const counters = new Set(lists.map(({ at }) => at));
  const arrays = arraysOf(lists);
  const isPush = (stmt: Stmt): boolean =>
    stmt.kind === "store" ? arrays.has(stmt.view) : (stmt.kind === "let" || stmt.kind === "assign") && counters.has(stmt.name);
  const body = mapStmts(ir.body, { stmt: (stmt) => (isPush(stmt) ? [] : stmt) });
  return { ...ir, params: ir.params.filter(({ name }) => !arrays.has(name)), body };
}

const arraysOf = (lists: readonly LoweredList[]): Set<string> => new Set(lists.flatMap(({ views, counts }) => [...views, counts]));

/** True for code that changes nothing outside of it. */
function isIdle({ params, body }: KernelIR): boolean {
  let idle = params.every(({ kind }) => kind !== "reduce" && kind !== "scatter");
  walkStmts(body, ({ kind }) => {
    if (kind === "store" || kind === "scatter" || kind === "print") idle = false;
  });
  return idle;
}

/** The kernels of code with lists. Throws KernelError for what they cannot do. */
export function listKernels(whole: KernelWithLists & Required<Pick<KernelWithLists, "lists">>): ListKernels {
  const { lists, ...lowered } = whole;
  refuseAtomics(whole);
  const ir = forwardStores(optimise(lowered));
  for (const list of lists) refuseSurplus(ir, list);
  const arrays = arraysOf(lists);
  const late = loadsAfterStores(ir, arrays);
  const isOther = (stmt: Stmt): boolean => isEffect(stmt) && !(stmt.kind === "store" && arrays.has(stmt.view));
  const body = mapStmts(ir.body, { stmt: (stmt) => (isOther(stmt) ? [] : stmt) });
  const params = ir.params.filter(({ kind }) => kind === "scalar" || kind === "view");
  const pure = removeDead({ ...ir, params, body });
  refuseLate(pure, late, lists);
  const names = new FreshNames(pure);
  const rank = ir.policy.kind === "range" ? ir.policy.rank : 1;
  const axes = Array.from({ length: rank }, (_, axis) => axis);
  const shape = {
    begins: axes.map((axis) => names.fresh(`begin_${axis}`)),
    extents: axes.map((axis) => names.fresh(`extent_${axis}`)),
    row: { begin: names.fresh("row_begin"), extent: names.fresh("row_extent") },
  };
  const counted = lists.map((list) => ({
    ...list,
    peak: mostPushes(pure.body, list.at) > list.most ? names.fresh(`${list.name}_peak`) : undefined,
  }));
  const making = new Making(pure, counted, names, shape);
  const rest = withoutLists(whole);
  const written = [...changedIn(rest.body, "view", "scatter")];
  return { lists: counted, elements: making.elements(), runs: making.runs(), ...shape, written, idle: isIdle(rest) };
}

/** Throws KernelError for atomic operations: the kernels that count and fill would find other values each. */
function refuseAtomics({ name, body, lists = [] }: KernelWithLists): void {
  walkStmts(body, (stmt) => {
    if (stmt.kind !== "atomic") return;
    const problem = `it appends to ${lists.map((list) => list.name).join(", ")}, and ${stmt.target} is atomic: a kernel that counts would change it, too`;
    throw new KernelError(name, stmt.location, problem, "append in another kernel");
  });
}

const isEffect = ({ kind }: Stmt): boolean =>
  kind === "store" || kind === "scatter" || kind === "reduce" || kind === "reduceJointly" || kind === "print";

/** Refuses code whose lists depend on what the same element stores: the kernels that count and fill run before. */
function refuseLate(pure: KernelIR, late: ReadonlyMap<Expr, Stmt>, lists: readonly LoweredList[]): void {
  if (late.size === 0) return;
  walkExprs(pure.body, (node, stmt) => {
    if (node.op !== "load" || !late.has(node)) return;
    const names = lists.map(({ name }) => name).join(", ");
    throw new KernelError(
      pure.name,
      node.location ?? stmt.location,
      `what is appended to ${names} depends on ${printExpr(node)}, into which the same element may have stored before`,
      "keep what is stored in a variable, and use that",
    );
  });
}

type Counted = ListKernels["lists"][number];
type CodeShape = Pick<ListKernels, "begins" | "extents" | "row">;

const scalar = (name: string): Param => ({ kind: "scalar", name, type: "i32" });
const value = (name: string): Typed<"i32"> => paramOf(name, "i32") as Typed<"i32">;
const local = (name: string): Typed<"i32"> => localOf(name, "i32") as Typed<"i32">;

/** Makes the kernels of code that has no effects but appending. */
class Making {
  private readonly location: Location;
  /** By list: the local with the end of what an element or a run may fill. */
  private readonly ends: ReadonlyMap<Counted, string>;
  private readonly byView: ReadonlyMap<string, Counted>;
  private readonly byCounter: ReadonlyMap<string, Counted>;

  constructor(
    private readonly pure: KernelIR,
    private readonly lists: readonly Counted[],
    private readonly names: FreshNames,
    private readonly shape: CodeShape,
  ) {
    this.location = pure.location;
    this.ends = new Map(lists.map((list) => [list, names.fresh(`${list.name}_end`)]));
    this.byView = new Map(lists.flatMap((list) => list.views.map((view) => [view, list] as const)));
    this.byCounter = new Map(lists.map((list) => [list.at, list]));
  }

  elements(): ListCode {
    const { location, body } = this;
    const peaks = this.lists.flatMap(({ at, peak }): Stmt[] =>
      peak ? [{ kind: "reduce", target: peak, value: local(at), location }] : [],
    );
    return { count: this.count([...body, ...peaks], []), fill: this.fill(this.guarded(body), []) };
  }

  runs(): ListCode {
    const { row, begins } = this.shape;
    const last = begins.length - 1;
    const [start, size, j] = ["start", "size", "j"].map((wish) => this.names.fresh(wish));
    const { location } = this;
    const left = sub(add(value(row.begin), value(row.extent)), local(start));
    const head = [
      define(start, add(value(row.begin), mul(index(last), int(LIST_RUN))), location),
      define(size, select(lt(left, int(LIST_RUN)), left, int(LIST_RUN)), location),
    ];
    const isLast = (node: Expr): boolean => node.op === "index" && node.axis === last;
    const body = mapStmts(this.body, { expr: (expr) => mapExpr(expr, (node) => (isLast(node) ? local(j) : node)) });
    const loop = (turn: Stmt[]): Stmt => {
      return { kind: "for", name: j, start: local(start), stop: add(local(start), local(size)), step: 1, body: turn, location };
    };
    const scalars = [scalar(row.begin), scalar(row.extent)];
    return {
      count: this.count([...head, loop(this.withPeaks(body))], scalars),
      fill: this.fill([...head, loop(this.untilFull(body))], scalars),
    };
  }

  /** The element's code without the first values of the counters. */
  private get body(): Stmt[] {
    return this.pure.body.filter((stmt) => !(stmt.kind === "let" && this.byCounter.has(stmt.name)));
  }

  /** The number of an element's or a run's counter. */
  private get number(): Typed<"i32"> {
    const { begins, extents } = this.shape;
    return begins
      .map((begin, axis) => sub(index(axis), value(begin)))
      .reduce((number, along, axis) => add(mul(number, value(extents[axis])), along));
  }

  private isFull(list: Counted): Typed<"bool"> {
    return ge(local(list.at), local(this.ends.get(list)!));
  }

  private kernel(body: Stmt[], without: ReadonlySet<string>, more: readonly Param[]): KernelIR {
    const { begins, extents } = this.shape;
    const params = [...this.pure.params.filter(({ name }) => !without.has(name)), ...[...begins, ...extents].map(scalar), ...more];
    return { ...this.pure, params, body };
  }

  private count(body: readonly Stmt[], more: readonly Param[]): KernelIR {
    const { location, lists } = this;
    const views = new Set(this.byView.keys());
    const starts = lists.map(({ at }) => define(at, int(0), location));
    const ends = lists.map(({ at, counts }): Stmt => ({ kind: "store", view: counts, indices: [this.number], value: local(at), location }));
    const peaks = lists.flatMap(({ peak }): Param[] =>
      peak ? [{ kind: "reduce", name: peak, type: "i32", op: "max", identity: identityOf("max", "i32") }] : [],
    );
    const counting = mapStmts([...starts, ...body, ...ends], { stmt: (s) => (s.kind === "store" && views.has(s.view) ? [] : s) });
    const alive = removeDead(this.kernel(counting, views, [...more, ...peaks]));
    return { ...alive, body: mapStmts(alive.body, { stmt: (stmt) => this.withoutChoice(stmt) }) };
  }

  /** Takes the peak of each element of a run. */
  private withPeaks(body: readonly Stmt[]): Stmt[] {
    const { location } = this;
    const peaks = this.lists.flatMap(({ at, peak }) => (peak ? [{ at, peak, before: this.names.fresh(`${at}_before`) }] : []));
    return [
      ...peaks.map(({ at, before }) => define(before, local(at), location)),
      ...body,
      ...peaks.map(({ at, peak, before }): Stmt => ({ kind: "reduce", target: peak, value: sub(local(at), local(before)), location })),
    ];
  }

  /** Counts without a branch, which is faster where nobody can guess the condition. */
  private withoutChoice(stmt: Stmt): Stmt {
    if (stmt.kind !== "if" || stmt.else.length > 0 || stmt.then.length !== 1) return stmt;
    const [only] = stmt.then;
    return isStep(only) && this.byCounter.has(only.name) ? stepBy(only, stmt.cond) : stmt;
  }

  /** Calls that store as long as there is room. */
  private guarded(block: readonly Stmt[]): Stmt[] {
    const made: Stmt[] = [];
    let open: { readonly list: Counted; readonly then: Stmt[] } | undefined;
    for (const before of block) {
      const stmt = mapBlocks(before, (inner) => this.guarded(inner));
      const list = stmt.kind === "store" ? this.byView.get(stmt.view) : stmt.kind === "assign" ? this.byCounter.get(stmt.name) : undefined;
      if (list && open?.list !== list) {
        open = { list, then: [] };
        made.push({ kind: "if", cond: not(this.isFull(list)), then: open.then, else: [], location: stmt.location });
      }
      if (list) open!.then.push(stmt);
      else made.push(stmt);
      if (!list || stmt.kind === "assign") open = undefined;
    }
    return made;
  }

  /** A turn of a run's loop, which ends once a single list is full. */
  private untilFull(body: readonly Stmt[]): Stmt[] {
    const [only, ...others] = this.lists;
    if (others.length > 0) return this.guarded(body);
    const { location } = this;
    const ends: Stmt = { kind: "if", cond: this.isFull(only), then: [{ kind: "break", location }], else: [], location };
    return [ends, ...(withoutBranch(body, only) ?? this.guarded(body))];
  }

  /** @param body that stores before the ends only */
  private fill(body: readonly Stmt[], more: readonly Param[]): KernelIR {
    const { location } = this;
    const starts = this.lists.flatMap((list): Stmt[] => {
      const next = loadInt(list.counts, add(this.number, int(1)));
      const room: Expr = { op: "extent", type: "i32", view: list.views[0], axis: 0 };
      return [
        define(list.at, loadInt(list.counts, this.number), location),
        define(this.ends.get(list)!, { op: "binary", type: "i32", fn: "min", a: next, b: room }, location),
      ];
    });
    return removeDead(this.kernel([...starts, ...body], new Set(), more));
  }
}

type Assign = Extract<Stmt, { kind: "assign" }>;

/** Whether a statement moves a local on by one, and not by a choice. */
function isStep(stmt: Stmt | undefined): stmt is Assign {
  if (stmt?.kind !== "assign" || stmt.value.op !== "binary" || stmt.value.fn !== "add") return false;
  const { a, b } = stmt.value;
  return a.op === "local" && a.name === stmt.name && b.op === "const" && b.value === 1;
}

/** A step of a counter by one that is taken where a condition holds. A choice of two values would be a branch to gcc. */
const stepBy = (step: Assign, cond: Expr): Assign => ({ ...step, value: add(local(step.name), cast("i32", cond)) });

/**
 * A turn that stores whether its condition holds or not, and moves on where it does: what is stored in vain is overwritten by the run's next element, or by nobody where the run
 * has none left, as its loop ends then. Undefined where the value could not be had without the condition, or costs much.
 */
function withoutBranch(body: readonly Stmt[], { at, views }: Counted): Stmt[] | undefined {
  const place = body.findIndex((stmt) => stmt.kind === "if");
  const choice = body[place];
  if (choice?.kind !== "if" || choice.else.length > 0) return undefined;
  const step = choice.then.at(-1);
  const before = choice.then.slice(0, -1);
  if (!isStep(step) || step.name !== at) return undefined;
  if (!before.every((stmt) => stmt.kind === "let" || (stmt.kind === "store" && views.includes(stmt.view)))) return undefined;
  const known = new Set<string>();
  const note = (expr: Expr): void => {
    if (expr.op === "load") known.add(printExpr(expr));
    alwaysEvaluated(expr).forEach(note);
  };
  const around = [...body.slice(0, place), ...body.slice(place + 1)];
  if (!around.every(({ kind }) => kind === "let")) return undefined;
  for (const stmt of body.slice(0, place)) exprsOf(stmt).forEach(note);
  note(choice.cond);
  const cheap = (expr: Expr): boolean =>
    !someExpr(expr, (node) => (node.op === "load" && !known.has(printExpr(node))) || COSTLY.has(node.op === "binary" ? node.fn : node.op));
  if (!before.every((stmt) => exprsOf(stmt).every(cheap))) return undefined;
  return [...body.slice(0, place), ...before, stepBy(step, choice.cond), ...body.slice(place + 1)];
}

/** Expressions that a value has without its condition only if nobody asks for them. */
const COSTLY = new Set(["element", "table", "call", "checked", "failed", "div", "rem", "pow"]);
