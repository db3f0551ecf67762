/* Data directives in ports to C++: calls of the runtime around statements, and around launches. */

import { unreachable } from "../../../base/unreachable.js";
import { find, type UnitScope } from "../../analyse/symbols.js";
import { mapStatements, namesInTree } from "../../analyse/visit.js";
import { withExpressions } from "../../analyse/walk.js";
import { writesOf } from "../../analyse/writes.js";
import { expressionText } from "../../print/expressions.js";
import type { Bound, Directed, Directive, Expr, Name, Stmt, VariableDeclaration } from "../../tree/index.js";
import { typeIn } from "../kept.js";
import { arraysOf, declaredAs, declaredIn, type NamedArray, type DataPlace } from "../../data/arrays.js";
import { deviceAddress, dataCall, isLasting, wholeArray, type Called } from "./calls.js";
import { dataItems, dataKind, type DataItem } from "../../data/items.js";
import { componentsApart, itemFor, type LoopDirectives } from "./loops.js";
import { refuseReturns } from "./openmp.js";

/** A unit that gets calls of the runtime. */
export interface CallPlace extends DataPlace {
  readonly called: Called;
}

/** A directive of data, with the statements that it governs. */
export function calledData(s: Directed, body: readonly Stmt[], place: CallPlace): Stmt[] {
  const { directive } = s;
  const kind = dataKind(directive)!;
  const items = dataItems(directive, place.problems);
  const calls = (of: "enter" | "exit" | "update", action: (item: DataItem) => string | undefined): Stmt[] =>
    callsFor(items, of, action, place);
  const has = (name: string): boolean => directive.clauses.some((clause) => clause.kind === "other" && clause.name === name);
  const absent = directive.sentinel === "omp" || has("if_present") ? " if_present" : "";
  switch (kind) {
    case "region": {
      const addressed = items.filter(({ address }) => address);
      const inner = addressed.length > 0 ? withAddresses(addressed, body, false, place) : [...body];
      return guarded(directive, calls("enter", enterAction), inner, calls("exit", exitAction).reverse(), place);
    }
    case "enter":
      return guarded(
        directive,
        calls("enter", (item) => enterAction(item) && `enter ${enterAction(item)}`),
        [],
        [],
        place,
      );
    case "exit":
      return guarded(
        directive,
        calls("exit", (item) => exitAction(item) && `exit ${exitAction(item)}${item.finalize ? " finalize" : ""}`),
        [],
        [],
        place,
      );
    case "update":
      return guarded(
        directive,
        [...declaredBefore(items, place), ...calls("update", ({ update }) => update && `${update}${absent}`)],
        [],
        [],
        place,
      );
    case "addresses":
      if (directive.clauses.some((clause) => clause.kind === "condition"))
        place.problems.add(
          s.at,
          `${directive.words.join(" ")} if`,
          "its condition is not supported in C++",
          "write an `if` with two calls",
        );
      return [...declaredBefore(items, place), ...withAddresses(items, body, has("if_present"), place)];
    case "declare":
      return [];
    default:
      return unreachable(kind);
  }
}

const enterAction = ({ enter, always }: DataItem): string | undefined =>
  enter === undefined ? undefined : `${enter}${always ? " always" : ""}`;
const exitAction = ({ exit, always }: DataItem): string | undefined =>
  exit === undefined ? undefined : `${exit}${always ? " always" : ""}`;

function callsFor(
  items: readonly DataItem[],
  of: "enter" | "exit" | "update",
  action: (item: DataItem) => string | undefined,
  place: CallPlace,
): Stmt[] {
  return items.flatMap((item) => {
    const said = action(item);
    return said === undefined ? [] : arraysOf(item.object, place).map((array) => dataCall(of, said, array, place, place.called));
  });
}

/** A module's arrays that \`declare\` has on the device are entered where they are first needed. */
const declaredBefore = (items: readonly DataItem[], place: CallPlace): Stmt[] =>
  items.flatMap(({ object }) => arraysOf(object, place).flatMap((array) => declaredCall({ ...array, section: undefined }, place)));

function declaredCall(array: NamedArray, place: CallPlace): Stmt[] {
  const action = declaredAction(array, place);
  return action === undefined ? [] : [dataCall("enter", action, array, place, place.called)];
}

function declaredAction({ whole, variable }: NamedArray, { problems }: DataPlace): string | undefined {
  if (whole.kind !== "name" || !isLasting(variable) || variable.attributes.has("allocatable") || variable.attributes.has("pointer"))
    return undefined;
  const item = declaredAs(variable, problems);
  // An array of `declare link` is not there before a region maps it.
  return item?.enter ? `declare ${item.enter === "copyin" ? "copyin" : "create"}` : undefined;
}

/** Calls before and after statements, under the directive's condition, whose value is the one from before them. */
function guarded(
  directive: Directive,
  before: readonly Stmt[],
  body: readonly Stmt[],
  after: readonly Stmt[],
  { scope, problems }: CallPlace,
): Stmt[] {
  const { at } = directive;
  for (const clause of directive.clauses)
    if (clause.kind === "other" && clause.name === "if")
      problems.add(clause.at, "if", "its condition is not an expression", "assign it to a variable");
  const condition = directive.clauses.find((clause) => clause.kind === "condition");
  if (!condition || (before.length === 0 && after.length === 0)) return [...before, ...body, ...after];
  const under = (cond: Expr, part: readonly Stmt[]): Stmt[] =>
    part.length > 0 ? [{ kind: "if", branches: [{ cond, body: part, at }], oneLine: false, at }] : [];
  if (after.length === 0) return [...under(condition.value, before), ...body];
  const used = namesInTree([before, body, after]);
  let name = "is_kept";
  for (let n = 2; find(scope, name) || used.has(name); n++) name = `is_kept_${n}`;
  const kept: Name = { kind: "name", name, at };
  const declaration: VariableDeclaration = {
    kind: "variables",
    type: { type: "logical", text: "logical", at },
    attributes: [],
    names: [{ name, at }],
    at,
  };
  const assigned: Stmt = { kind: "assign", target: kept, value: condition.value, at };
  return [{ kind: "block", declarations: [declaration], body: [assigned, ...under(kept, before), ...body, ...under(kept, after)], at }];
}

/** Statements that see arrays by the device's addresses: as pointers, in the names' place. */
function withAddresses(items: readonly DataItem[], body: readonly Stmt[], absent: boolean, place: CallPlace): Stmt[] {
  const { scope, problems } = place;
  const arrays = items
    .filter(({ address }) => address)
    .flatMap(({ object }) => arraysOf(object, place).map((array) => ({ ...array, section: undefined })));
  const [first] = body;
  if (arrays.length === 0 || !first) return [...body];
  const { at } = first;
  const declarations: VariableDeclaration[] = [];
  const pointed: Stmt[] = [];
  const names = new Map<string, string>();
  const held: NamedArray[] = [];
  const used = namesInTree(body);
  for (const array of arrays) {
    const { whole, variable } = array;
    const type = typeIn(scope, variable);
    if (!type) {
      problems.add(array.at, expressionText(whole), "its type cannot be written here", "declare it in the routine");
      continue;
    }
    let name = `${variable.name}_device`;
    for (let n = 2; find(scope, name) || used.has(name); n++) name = `${variable.name}_device_${n}`;
    names.set(expressionText(whole), name);
    const axes = variable.dims!.map((): Bound => ({ assumed: true }));
    declarations.push({ kind: "variables", type, attributes: ["pointer"], names: [{ name, dimension: axes, at }], at });
    held.push(array);
    pointed.push(...pointerTo(name, array, deviceAddress(array, place.called)));
  }
  const inside = mapStatements(body, (s) => [
    withExpressions(s, (e: Expr) => {
      const name = e.kind === "name" || e.kind === "part" ? names.get(expressionText(e)) : undefined;
      return name === undefined ? e : { kind: "name", name, at: e.at };
    }),
  ]);
  place.called.add("c_f_pointer");
  const call = (of: "enter" | "exit", action: string): Stmt[] => held.map((array) => dataCall(of, action, array, place, place.called));
  const block: Stmt = { kind: "block", declarations, body: [...pointed, ...inside], at };
  return [...call("enter", absent ? "use_device if_present" : "use_device present"), block, ...call("exit", "use_device delete")];
}

/** `call c_f_pointer(address, p, shape(a))` and `p(lbound(a,1):) => p` */
function pointerTo(name: string, { whole, variable, at }: NamedArray, address: Expr): Stmt[] {
  const pointer: Name = { kind: "name", name, at };
  const fn = (of: string, ...args: Expr[]): Expr => ({
    kind: "apply",
    base: { kind: "name", name: of, at },
    args: args.map((value) => ({ kind: "value", value })),
    at,
  });
  const axis = (n: number): Expr => ({ kind: "literal", type: "integer", text: String(n + 1), at });
  const lowers = variable.dims!.map((_, n) => ({ kind: "section", lower: fn("lbound", whole, axis(n)) }) as const);
  const call: Stmt = {
    kind: "call",
    procedure: { kind: "name", name: "c_f_pointer", at },
    args: [address, pointer, fn("shape", whole)].map((value) => ({ kind: "value", value })),
    at,
  };
  return [call, { kind: "pointer-assign", target: { kind: "apply", base: pointer, args: lowers, at }, value: pointer, at }];
}

/** Array that a launch is given, and whether its kernel assigns elements. */
interface LaunchArray {
  readonly actual: Expr;
  readonly written: boolean;
}

/** How a launch is given one array: statements before and after it, and the address. */
interface Lent {
  readonly before: readonly Stmt[];
  readonly address: Expr;
  readonly after: readonly Stmt[];
}

/** Undefined for arrays that have one address for host and device. */
export function lent({ actual, written }: LaunchArray, directives: LoopDirectives, isHosts: boolean, place: CallPlace): Lent | undefined {
  const whole = wholeArray(bareArray(actual), place);
  if (!whole || ["device", "managed"].some((word) => whole.variable.attributes.has(word))) return undefined;
  const { called } = place;
  const call = (of: "enter" | "exit", action: string, array: NamedArray): Stmt => dataCall(of, action, array, place, called);
  const address = deviceAddress(whole, called);
  if (isHosts) {
    const exit = written ? "copyout" : "delete";
    return { before: [call("enter", "host copyin", whole)], address, after: [call("exit", `host ${exit}`, whole)] };
  }
  const found = itemFor(expressionText(whole.whole), directives, place);
  if (found?.item.given) return undefined;
  const declared = declaredAction(whole, place);
  if (declared !== undefined) return { before: [call("enter", declared, whole)], address, after: [] };
  const section = found?.item.object.kind === "apply" ? found.item.object.args : undefined;
  const array = { ...whole, ...(section && { section }) };
  const [enter, exit] = waysOf(found?.isOwn ? found.item : undefined, written);
  return { before: [call("enter", `launch ${enter}`, array)], address, after: [call("exit", `launch ${exit}`, array)] };
}

/** How an array gets to the device for a launch, and back: by the loop's clause, or as it is used. */
function waysOf(item: DataItem | undefined, written: boolean): [enter: string, exit: string] {
  const used = written ? "copyout" : "delete";
  if (!item) return ["copyin", used];
  return [enterAction(item) ?? "copyin", item.enter === "present" ? used : (exitAction(item) ?? used)];
}

const bareArray = (e: Expr): Expr => {
  const [arg] = e.kind === "apply" ? e.args : [];
  return e.kind === "apply" && e.base.kind === "name" && e.base.name === "c_loc" && arg?.kind === "value" ? arg.value : e;
};

/** A construct that runs on the device, as a region with the arrays of its clauses. */
export function withCalledData(s: Directed, body: readonly Stmt[], place: CallPlace): Stmt[] {
  const items = dataItems(s.directive, place.problems);
  return guarded(
    s.directive,
    callsFor(items, "enter", enterAction, place),
    body,
    callsFor(items, "exit", exitAction, place).reverse(),
    place,
  );
}

/** A statement of such a construct that the host runs here: with the device's values, which it gives back. */
export function onHost(s: Stmt, around: readonly Directive[], place: CallPlace): Stmt[] {
  const { scope } = place;
  const parts = componentsApart([s], scope, undefined).all();
  const plain = [...namesInTree(s)].map((name): Expr => ({ kind: "name", name, at: s.at }));
  const used = [...plain, ...parts.map(({ value }) => value)]
    .flatMap((e) => wholeArray(e, place) ?? [])
    .filter(({ variable }) => !variable.value);
  if (used.length === 0) return [s];
  const written = writesOf(scope, [s]);
  const call = (word: string, array: NamedArray): Stmt =>
    dataCall("update", `${word} if_present`, sectionOf(array, around, place), place, place.called);
  const changed = used.filter(({ whole, variable }) => written.has(whole.kind === "name" ? whole.name : variable.name));
  const before = used.flatMap((array) => [...declaredCall(array, place), call("self", array)]);
  return [...before, s, ...changed.map((array) => call("device", array))];
}

function sectionOf(array: NamedArray, around: readonly Directive[], place: DataPlace): NamedArray {
  const item = itemFor(expressionText(array.whole), { own: [], around }, place)?.item;
  return item?.object.kind === "apply" ? { ...array, section: item.object.args } : array;
}

/** The data that `declare` gives a procedure for the time of a call, around its statements. */
export function withDeclaredCalls(body: readonly Stmt[], directives: readonly Directive[], place: CallPlace): Stmt[] {
  const items = directives.flatMap((directive) => dataItems(directive, place.problems)).filter((item) => !isOfProgram(item, place.scope));
  const entered = callsFor(items, "enter", enterAction, place);
  if (entered.length > 0) refuseReturns(body, items[0], place.problems);
  return [...entered, ...body, ...callsFor(items, "exit", exitAction, place).reverse()];
}

function isOfProgram({ object }: DataItem, scope: UnitScope): boolean {
  const variable = object.kind === "name" ? find(scope, object.name) : undefined;
  return variable !== undefined && isLasting(variable);
}

/** `allocate` and `deallocate` of a module's arrays that `declare` has on the device. */
export function withAllocatedCalls(s: Stmt, place: CallPlace): Stmt[] {
  if (s.kind !== "allocate" && s.kind !== "deallocate") return [s];
  const arrays = s.kind === "allocate" ? s.arrays.map(({ target }) => target) : s.arrays;
  const found = declaredIn(arrays, place).map(({ whole, variable }): NamedArray => ({ whole, variable, at: s.at }));
  const calls = (of: "enter" | "exit", action: string): Stmt[] => found.map((array) => dataCall(of, action, array, place, place.called));
  return s.kind === "allocate" ? [s, ...calls("enter", "enter create")] : [...calls("exit", "exit delete finalize"), s];
}
