/*
 * Scalars that data directives of OpenACC, and `declare`, keep on a device: host and device have a value each there, and only `update` and the end of a
 * region copy it. Code that gives both sides one value is right only where neither side reads what the other one has assigned since the last copy.
 */

import { isReadBehind } from "../analyse/behind.js";
import type { ParallelRegion } from "../analyse/regions.js";
import {
  designatorOf,
  find,
  findNamed,
  namedVariable,
  nestedComponents,
  ownerOf,
  type UnitScope,
  type Variable,
} from "../analyse/symbols.js";
import { bodiesOf, eachStatement, namesInTree, namesUnread } from "../analyse/visit.js";
import { expressionsOf, namesInExpr, variableName } from "../analyse/walk.js";
import { calledBy, writesOf } from "../analyse/writes.js";
import { Problems, type Problem } from "../errors.js";
import { expressionText } from "../print/expressions.js";
import type { Designator, Directed, Directive, Stmt } from "../tree/index.js";
import { declaredAs } from "./arrays.js";
import { clausesIn, dataItems, dataKind, isCompute, type DataItem } from "./items.js";

type Side = "host" | "device";

/** The side that has assigned a scalar since its values were alike, and the first such statement. */
interface Newer {
  readonly side: Side;
  readonly at: Problem["at"];
}

type State = ReadonlyMap<string, Newer>;

/** Statements that read a scalar's old value where host and device have memories of their own; each at the assignment that is not copied. */
export function oldScalars(scope: UnitScope, regions: readonly ParallelRegion[]): Problem[] {
  const { unit } = scope;
  if (unit.kind === "module") return [];
  const walk = new Walk(scope, new Map(regions.flatMap((region) => (region.stmt ? [[region.stmt, region]] : []))));
  walk.body(unit.body, [], new Map());
  return walk.problems.found;
}

class Walk {
  readonly problems = new Problems();
  private readonly told = new Set<string>();
  /** States at jumps, which go on after the loop around. */
  private jumped: State[] = [];

  /** Scalars that directives without a block keep on the device, or that a loop expects there. */
  private readonly entered = new Set<string>();

  constructor(
    private readonly scope: UnitScope,
    private readonly regions: ReadonlyMap<Stmt, ParallelRegion>,
  ) {
    eachStatement(scope.unit.kind === "module" ? [] : scope.unit.body, (s) => {
      if (s.kind !== "directed") return;
      const isEnter = dataKind(s.directive) === "enter";
      const kept = items([s.directive]).filter(({ enter }) => (isEnter ? enter : enter === "present"));
      for (const name of namesIn(scope, kept)) this.entered.add(name);
    });
  }

  body(list: readonly Stmt[], around: readonly Directive[], from: State): State {
    return list.reduce((state, s) => this.statement(s, around, state), from);
  }

  private statement(s: Stmt, around: readonly Directive[], from: State): State {
    const region = this.regions.get(s);
    if (region) return this.launch(s, region, around, from);
    if (s.kind === "directed") return this.directed(s, around, from);
    const side = around.some(isCompute) ? "device" : "host";
    const inner = bodiesOf(s);
    const bare = { ...s, ...(inner.length > 0 && without(s)) } as Stmt;
    const state = this.used(bare, side, around, from);
    if (s.kind === "exit" || s.kind === "cycle") this.jumped.push(state);
    if (inner.length === 0) return state;
    if (s.kind !== "do" && s.kind !== "do-while") return merged([...inner.map((part) => this.body(part, around, state)), state]);
    const outer = this.jumped;
    this.jumped = [];
    const once = this.body(inner[0], around, state);
    const again = this.body(inner[0], around, merged([state, once, ...this.jumped]));
    const after = merged([state, again, ...this.jumped]);
    this.jumped = outer;
    return after;
  }

  /** A statement that one side runs, without the bodies in it. */
  private used(s: Stmt, side: Side, around: readonly Directive[], from: State): State {
    const isHeld = this.held(around);
    const held = (name: string): boolean => isHeld(name) || this.entered.has(name);
    const state = new Map(from);
    const written = writesOf(this.scope, [s]);
    for (const [name, newer] of from)
      if (newer.side !== side && reads(this.scope, s, name)) this.differs(name, newer, `line ${s.at.line} takes`);
    const updated = updatedBy(this.scope, s);
    for (const name of written) if (held(name) && !updated.has(name)) state.set(name, { side, at: s.at });
    for (const name of updated) state.delete(name);
    return state;
  }

  private launch(s: Stmt, region: ParallelRegion, around: readonly Directive[], from: State): State {
    const own = s.kind === "directed" ? directivesOf(s) : [];
    // Without such a directive, it is a loop of the host.
    const side = [...around, ...own].some((each) => isCompute(each) || each.sentinel === "acc") ? "device" : "host";
    const isHeld = this.held(around);
    const given = namesIn(this.scope, items(own));
    const uses = (name: string): boolean => isHeld(name) || (given.has(name) && this.entered.has(name));
    const apart = new Set(clausesIn(s).flatMap((clause) => ("names" in clause && clause.kind !== "reduction" ? clause.names : [])));
    const state = new Map(from);
    for (const [name, newer] of from)
      if (newer.side !== side && uses(name) && !apart.has(name) && reads(this.scope, s, name))
        this.differs(name, newer, `line ${s.at.line} takes`);
    for (const { name } of [...region.left, ...region.reductions]) if (uses(name)) state.set(name, { side, at: s.at });
    return state;
  }

  private directed(s: Directed, around: readonly Directive[], from: State): State {
    const { directive } = s;
    const kind = dataKind(directive);
    const given = items([directive]);
    if (kind === "update") {
      const state = new Map(from);
      for (const { object, update } of given)
        for (const name of scalarsOf(this.scope, object))
          if (update && state.get(name)?.side === (update === "self" ? "device" : "host")) state.delete(name);
      return state;
    }
    const after = this.body(s.body, [...around, directive], from);
    return kind === "region" || isCompute(directive) ? this.left(given, s, after, this.held(around)) : after;
  }

  /** The state after a region: what its end copies to the host, and what it gives up. */
  private left(given: readonly DataItem[], s: Stmt, from: State, stays: (name: string) => boolean): State {
    const state = new Map(from);
    for (const { object, exit } of given)
      for (const name of scalarsOf(this.scope, object)) {
        const newer = from.get(name);
        if (!newer || !exit || stays(name)) continue;
        const isLost = newer.side === (exit === "copyout" ? "host" : "device");
        if (isLost && isReadBehind(this.scope, s, name)) this.differs(name, newer, `the region of line ${s.at.line} ends with`);
        state.delete(name);
      }
    return state;
  }

  private held(around: readonly Directive[]): (name: string) => boolean {
    const named = namesIn(
      this.scope,
      items(around).filter(({ enter }) => enter),
    );
    return (name) => {
      if (named.has(name)) return true;
      const variable = findNamed(this.scope, name);
      return variable !== undefined && isScalar(variable) && declaredAs(variable, new Problems())?.enter !== undefined;
    };
  }

  private differs(name: string, { side, at }: Newer, reader: string): void {
    const shown = expressionText(designatorOf(this.scope, name, at));
    const key = `${shown} ${at.line} ${at.column}`;
    if (this.told.has(key)) return;
    this.told.add(key);
    const [other, update] = side === "host" ? ["device", "device"] : ["host", "self"];
    this.problems.add(
      at,
      shown,
      `the ${side} assigns it while a data directive keeps it on the device, and ${reader} the ${other}'s old value`,
      `write \`!$acc update ${update}(${shown})\` between the two, or leave ${shown} out of the data directive`,
    );
  }
}

const items = (directives: readonly Directive[]): DataItem[] =>
  directives
    .filter((each) => each.sentinel === "acc" && (dataKind(each) !== undefined || isCompute(each)))
    .flatMap((each) => dataItems(each, new Problems()));

const isScalar = ({ dims, derived }: Variable): boolean => !dims && derived === undefined;

/** The scalars that a clause names, by themselves or in an object. */
function scalarsOf(scope: UnitScope, object: Designator): string[] {
  if (object.kind === "apply") return [];
  const variable = namedVariable(scope, object);
  if (!variable) return [];
  if (isScalar(variable)) return [variableName(object)];
  if (variable.dims) return [];
  return nestedComponents(scope, object).flatMap((part) => {
    const inside = namedVariable(scope, part);
    return inside && isScalar(inside) ? [variableName(part)] : [];
  });
}

const namesIn = (scope: UnitScope, list: readonly DataItem[]): Set<string> =>
  new Set(list.flatMap(({ object }) => scalarsOf(scope, object)));

/** Whether a statement, or a procedure that it calls, reads a scalar, or may. */
function reads(scope: UnitScope, s: Stmt, name: string): boolean {
  if (isRead([s], name)) return true;
  const variable = findNamed(scope, name);
  if (!variable || ownerOf(variable) === scope) return false;
  return [...calledBy(scope, [s])].some(
    (called) => called.unit.kind === "procedure" && findNamed(called, name) === variable && isRead(called.unit.body, name),
  );
}

function isRead(list: readonly Stmt[], name: string): boolean {
  let found = false;
  eachStatement(list, (s) => {
    const isTarget = s.kind === "assign" && s.target.kind !== "apply" && variableName(s.target) === name;
    const parts = isTarget ? [s.value] : expressionsOf(s);
    found ||= s.kind === "unsupported" && namesUnread(s).includes(name);
    found ||= parts.some((e) => namesInTree(e).has(name) || namesInExpr(e).has(name));
  });
  return found;
}

/** Scalars of modules that procedures called by a statement copy themselves. */
function updatedBy(scope: UnitScope, s: Stmt): Set<string> {
  const found = new Set<string>();
  for (const called of calledBy(scope, [s]))
    eachStatement(called.unit.kind === "module" ? [] : called.unit.body, (inner) => {
      if (inner.kind !== "directed" || dataKind(inner.directive) !== "update") return;
      for (const { object } of items([inner.directive]))
        for (const name of scalarsOf(called, object)) if (find(scope, name) === find(called, name)) found.add(name);
    });
  return found;
}

const directivesOf = (s: Stmt): Directive[] => (s.kind === "directed" ? [s.directive, ...s.body.flatMap(directivesOf)] : []);

/** The parts of a statement that hold bodies, empty. */
function without(s: Stmt): Partial<Record<string, unknown>> {
  if ("branches" in s) return { branches: s.branches.map((branch) => ({ ...branch, body: [] })), otherwise: [] };
  if (s.kind === "select") return { cases: s.cases.map((each) => ({ ...each, body: [] })) };
  return { body: [] };
}

/** State after one of several ways, whichever is taken. */
function merged(states: readonly State[]): State {
  const all = new Map<string, Newer>();
  for (const state of states) for (const [name, newer] of state) if (!all.has(name)) all.set(name, newer);
  return all;
}
