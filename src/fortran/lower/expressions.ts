import { binary, call, cast, compare, constant, int, logical, not, select, unary } from "../../ir/expressions.js";
import { isFloat, isIndex, isInteger, isSingle } from "../../ir/scalars.js";
import type { Expr, Location, ScalarType } from "../../ir/types.js";
import { unreachable } from "../../base/unreachable.js";
import {
  find,
  findProcedure,
  kindBytes,
  procedureProblem,
  suffixBytes,
  typeOf,
  type UnitScope,
  type Variable,
} from "../analyse/symbols.js";
import { namesInTree } from "../analyse/visit.js";
import { variableName } from "../analyse/walk.js";
import type { Apply, ActualArgument, Binary, Constructor, Expr as Tree, Literal, Name, ComponentRef } from "../tree/index.js";
import { counted, declaredShape, section, type ArrayValue, type ArrayElement } from "./arrays.js";
import { fortranConstant, minus, plus } from "./constants.js";
import { BOTH_PARTS, isAsLargeAsFirst, isOfComplex, REFUSED } from "../complex/nodes.js";
import { partOfComplex } from "./complex.js";
import { conversionOf, elemental, isElemental } from "./intrinsics.js";
import { objectOf, variableIn, type ProcedureFrame, type FortranLowering } from "./lowering.js";
import { toldByOpenMP } from "./runtime.js";
import { converted, ONE, promoted, signedByte, treeName, Unlowerable, ZERO } from "./values.js";
import { checkWide, wideResult, type Wide } from "./wide.js";

/* Expressions, with the meaning that Fortran gives them. */

/** The value of an expression; `index` picks an element where it is an array. @throws Unlowerable */
export function value(cx: FortranLowering, frame: ProcedureFrame, e: Tree, index: readonly Expr[] = []): Expr {
  const found = wrapping(cx, frame, e, index);
  checkWide(cx.wide.get(found), e.at);
  return found;
}

/** The value modulo 2**32 where it is an integer of 64 bits: for subscripts. */
function wrapping(cx: FortranLowering, frame: ProcedureFrame, e: Tree, index: readonly Expr[]): Expr {
  switch (e.kind) {
    case "literal":
      return literal(cx, frame, e);
    case "name":
    case "part":
      return named(cx, frame, e, index);
    case "apply":
      return (isOfComplex(treeName(e.base)) ? partOfComplex : applied)(cx, frame, e, index);
    case "group":
      return wrapping(cx, frame, e.a, index);
    case "unary": {
      const a = wrapping(cx, frame, e.a, index);
      if (e.op === ".not.") return not(truth(a, e.at));
      const made = e.op === "-" ? (a.op === "const" ? constant(a.type, -Number(a.value)) : unary("neg", number(a, e.at))) : number(a, e.at);
      return marked(cx, made, cx.wide.get(a));
    }
    case "binary":
      return operated(cx, frame, e, index);
    case "complex":
      throw new Unlowerable(e.at, "(…, …)", "a complex number is used where a real one is needed", "write real(z) or aimag(z)");
    case "constructor":
      return materialised(cx, frame, e).at(index).load(e.at);
    default:
      return unreachable(e);
  }
}

/** The value in a wanted type. */
export const valueAs = (cx: FortranLowering, frame: ProcedureFrame, type: ScalarType, e: Tree, index?: readonly Expr[]): Expr =>
  converted(type, value(cx, frame, e, index), e.at, treeName(e));

export const indexOf = (cx: FortranLowering, frame: ProcedureFrame, e: Tree): Expr => integer(value(cx, frame, e), e);
const subscript = (cx: FortranLowering, frame: ProcedureFrame, e: Tree): Expr => integer(wrapping(cx, frame, e, []), e);

const marked = (cx: FortranLowering, e: Expr, wide: Wide | undefined): Expr => {
  if (wide) cx.wide.set(e, wide);
  return e;
};

const integer = (found: Expr, e: Tree): Expr => {
  if (!isIndex(found.type)) throw new Unlowerable(e.at, treeName(e), "an index or a bound has to be an integer", "write int(…) around it");
  return found;
};

function literal(cx: FortranLowering, frame: ProcedureFrame, { type, text, suffix, at }: Literal): Expr {
  switch (type) {
    case "logical":
      return constant("bool", text === ".true.");
    case "integer": {
      const number = /^\d/.test(text) ? Number(text) : parseInt(text.slice(2), { b: 2, o: 8, z: 16 }[text[0]]) | 0;
      if (number > 2147483647) throw new Unlowerable(at, text, "it is not a 32-bit integer");
      return marked(cx, int(number), suffix !== undefined && (suffixBytes(frame.scope, suffix) ?? 4) > 4 ? "fits" : undefined);
    }
    case "real": {
      const bytes = suffix === undefined ? (/d/i.test(text) ? 8 : 4) : suffixBytes(frame.scope, suffix);
      const digits = Number(text.replace(/d/i, "e"));
      if (bytes === 8) return constant("f64", digits);
      if (bytes === 4) return constant("f32", Math.fround(digits));
      throw new Unlowerable(
        at,
        `${text}_${suffix}`,
        `its kind ${bytes === undefined ? "is unknown" : `has ${bytes} bytes`}`,
        'give the kind\'s module, or kinds: { name: "f64" }',
      );
    }
    case "character":
      throw new Unlowerable(at, `"${text}"`, "kernels have no character strings", "keep it on the host");
    default:
      return unreachable(type);
  }
}

function named(cx: FortranLowering, frame: ProcedureFrame, e: Name | ComponentRef, index: readonly Expr[]): Expr {
  const constantly = parameterOf(cx, frame, e, index);
  if (constantly) return constantly;
  const meaning = cx.meaning(frame, e);
  const isWide = (): boolean => variableIn(frame, e)?.wide === true;
  switch (meaning.kind) {
    case "value":
      // Constants and other nodes may be shared.
      return isInteger(meaning.expr.type) && isWide() ? marked(cx, { ...meaning.expr }, "small") : meaning.expr;
    case "local":
      return marked(cx, { op: "local", type: meaning.type, name: meaning.name }, isInteger(meaning.type) && isWide() ? "fits" : undefined);
    case "array":
      return elementOf(meaning.array, index, e.at, treeName(e), "a whole array");
    case "reduction":
      throw new Unlowerable(e.at, treeName(e), "the result of a reduction is read in its own loop", "use it after the loop");
    default:
      return unreachable(meaning);
  }
}

function elementOf(array: ArrayValue, index: readonly Expr[], at: Location, name: string, what: string): Expr {
  const { length } = array.extents;
  if (index.length === 0) throw new Unlowerable(at, name, `${what} is used where a single number is needed`, "use one element of it");
  if (index.length !== length)
    throw new Unlowerable(
      at,
      name,
      `it has ${length} axes, and is combined with arrays of ${index.length}`,
      "write a loop over its elements",
    );
  return array.at(index).load(at);
}

/** A frame in which declarations are read. */
export const declaring = ({ scope }: Pick<Variable, "scope">): ProcedureFrame => ({ scope, meanings: new Map(), loops: [], body: [] });

/** The frame, in which a name has a value. */
export const withName = (frame: ProcedureFrame, name: string, expr: Expr): ProcedureFrame => ({
  ...frame,
  meanings: new Map(frame.meanings).set(name, { kind: "value", expr }),
});

/** The declaration of a name that stands for a constant. */
function constantNamed(frame: ProcedureFrame, e: Name | ComponentRef): Variable | undefined {
  const [at, of] = objectOf(frame, e);
  if (at.meanings.has(variableName(of))) return undefined;
  const variable = variableIn(frame, e);
  return variable?.value && variable;
}

function parameterOf(cx: FortranLowering, frame: ProcedureFrame, e: Name | ComponentRef, index: readonly Expr[]): Expr | undefined {
  const variable = constantNamed(frame, e);
  if (!variable) return undefined;
  const own: ProcedureFrame = declaring(variable);
  const made = valueAs(cx, own, variable.type, variable.value!, index);
  const known = fortranConstant(made);
  return marked(cx, known === undefined ? made : constant(made.type, known), variable.wide && "fits");
}

/** An array or an element that an expression designates; undefined of a call. */
export function designated(
  cx: FortranLowering,
  frame: ProcedureFrame,
  e: Tree,
): { array: ArrayValue } | { cell: ArrayElement; array: ArrayValue; indices: Expr[] } | undefined {
  if (e.kind === "group") return undefined;
  if (e.kind === "constructor") return { array: materialised(cx, frame, e) };
  if (e.kind === "name" || e.kind === "part") {
    const variable = constantNamed(frame, e);
    const items = variable && constantItems(variable);
    if (items) return { array: constantArray(cx, variable, items) };
    if (variable?.dims) return { array: computedArray(cx, variable) };
    if (variable || !isArray(frame, e)) return undefined;
    const meaning = cx.meaning(frame, e);
    return meaning.kind === "array" ? { array: meaning.array } : undefined;
  }
  if (e.kind !== "apply" || !isArray(frame, e.base)) return undefined;
  const whole = designated(cx, frame, e.base);
  if (!whole) return undefined;
  const { array } = whole;
  if (e.args.length !== array.lowers.length)
    throw new Unlowerable(e.at, array.name, `${e.args.length} indices for an array of ${array.lowers.length} axes`);
  if (e.args.every((arg) => arg.kind === "value" && !extentsOfExpr(cx, frame, arg.value))) {
    const given = e.args.map((arg) => subscript(cx, frame, (arg as { value: Tree }).value));
    const indices = counted(array, given);
    return { cell: array.at(indices), array, indices };
  }
  const axes = e.args.map((arg, axis) => {
    const lower = array.lowers[axis];
    if (arg.kind === "value") {
      if (extentsOfExpr(cx, frame, arg.value))
        throw new Unlowerable(e.at, array.name, "an array is used as an index", "write a loop over it");
      return { index: cx.stable(minus(subscript(cx, frame, arg.value), lower), "at") };
    }
    const start = arg.lower ? minus(indexOf(cx, frame, arg.lower), lower) : ZERO;
    const last = arg.upper ? minus(indexOf(cx, frame, arg.upper), lower) : minus(array.extents[axis], ONE);
    const step = arg.step && indexOf(cx, frame, arg.step);
    const span = minus(last, start);
    const extent = step ? binary("div", plus(span, step), step) : plus(span, ONE);
    return { start: cx.stable(start, "start"), extent: cx.stable(extent, "extent"), ...(step && { step: cx.stable(step, "step") }) };
  });
  return { array: section(array, axes) };
}

/** Whether a name means an array, not a function. */
export function isArray(frame: ProcedureFrame, e: Name | ComponentRef): boolean {
  const known = e.kind === "name" ? frame.meanings.get(e.name) : undefined;
  if (known) return known.kind === "array";
  return variableIn(frame, e)?.dims !== undefined;
}

/** The extents of an expression that is an array; undefined of a single value. */
export function extentsOfExpr(cx: FortranLowering, frame: ProcedureFrame, e: Tree): readonly Expr[] | undefined {
  switch (e.kind) {
    case "literal":
      return undefined;
    case "name":
    case "part":
      return isArray(frame, e) ? designated(cx, frame, e)?.array.extents : undefined;
    case "constructor":
      return [int(itemsOf(cx, frame, e).length)];
    case "group":
    case "unary":
      return extentsOfExpr(cx, frame, e.a);
    case "binary":
      return extentsOfExpr(cx, frame, e.a) ?? extentsOfExpr(cx, frame, e.b);
    case "complex":
      return extentsOfExpr(cx, frame, e.re) ?? extentsOfExpr(cx, frame, e.im);
    case "apply": {
      if (isArray(frame, e.base)) {
        if (e.args.every((arg) => arg.kind === "value" && !extentsOfExpr(cx, frame, arg.value))) return undefined;
        const found = designated(cx, frame, e);
        return found && "cell" in found ? undefined : found?.array.extents;
      }
      const name = treeName(e.base);
      const procedure = findProcedure(frame.scope, name);
      if (procedure && !isElementalProcedure(procedure)) return undefined;
      if (name === BOTH_PARTS) return [int(2), ...(firstExtents(cx, frame, e) ?? [])];
      if (isAsLargeAsFirst(name)) return firstExtents(cx, frame, e);
      if (name === REFUSED) return undefined;
      if (!procedure && !isElemental(name) && conversionOf(name) === undefined) return cx.parts.arrayShape(cx, frame, e);
      for (const arg of e.args)
        if (arg.kind === "value") {
          const shape = extentsOfExpr(cx, frame, arg.value);
          if (shape) return shape;
        }
      return undefined;
    }
    default:
      return unreachable(e);
  }
}

function firstExtents(cx: FortranLowering, frame: ProcedureFrame, { args: [first] }: Apply): readonly Expr[] | undefined {
  return first?.kind === "value" ? extentsOfExpr(cx, frame, first.value) : undefined;
}

const MOST_ITEMS = 1000;

/** Items of a constructor, in order, its loops written out; each item with the frame that knows its names. */
export function itemsOf(cx: FortranLowering, frame: ProcedureFrame, e: Constructor): { e: Tree; frame: ProcedureFrame }[] {
  return e.items.flatMap((item) => {
    if (item.kind !== "implied-do") return [{ e: item, frame }];
    const bounds = [item.start, item.stop, ...(item.step ? [item.step] : [])].map((bound) => fortranConstant(indexOf(cx, frame, bound)));
    const [start, stop, step = 1] = bounds as number[];
    const trips = Math.max(0, Math.trunc((stop - start + step) / step));
    if (!(trips * item.items.length <= MOST_ITEMS))
      throw new Unlowerable(item.at, "[(…, i = …)]", "the loop of a constructor has no small constant number of items", "write a do loop");
    return Array.from({ length: trips }, (_, n) => withName(frame, item.variable, int(start + n * step))).flatMap((inner) =>
      item.items.map((each) => ({ e: each, frame: inner })),
    );
  });
}

/** The values of a constant array, in the order of its elements: a constructor, or `reshape` of one. */
function constantItems({ dims, value: given }: Variable): Constructor | undefined {
  const first = given?.kind === "apply" && treeName(given.base) === "reshape" ? given.args[0] : undefined;
  const items = first?.kind === "value" ? first.value : given;
  return dims && items?.kind === "constructor" ? items : undefined;
}

/** A constant array with its bounds. */
function constantArray(cx: FortranLowering, variable: Variable, e: Constructor): ArrayValue {
  const frame = declaring(variable);
  const dims = declaredShape(variable.dims!, (bound) => indexOf(cx, frame, bound));
  const shape = { lowers: dims.map(({ lower }) => lower), extents: dims.map(({ extent }) => extent ?? int(itemsOf(cx, frame, e).length)) };
  return materialised(cx, frame, e, variable.type, shape);
}

/** A constant array whose value is not a list: `shape(a)`. */
function computedArray(cx: FortranLowering, variable: Variable): ArrayValue {
  const frame = declaring(variable);
  const { name, type, at } = variable;
  const dims = declaredShape(variable.dims!, (bound) => indexOf(cx, frame, bound));
  const known = dims.every(({ extent }) => extent) ? undefined : extentsOfExpr(cx, frame, variable.value!);
  const extents = dims.map(({ extent }, axis) => extent ?? known?.[axis] ?? ONE);
  const array = cx.array(name, type, { lowers: dims.map(({ lower }) => lower), extents }, at);
  eachIndex(cx, extents, (index) => cx.push(array.at(index).store(valueAs(cx, frame, type, variable.value!, index), at)));
  return array;
}

/** A constructor as an array of its own. */
function materialised(
  cx: FortranLowering,
  frame: ProcedureFrame,
  e: Constructor,
  wanted?: ScalarType,
  given?: Pick<ArrayValue, "lowers" | "extents">,
): ArrayValue {
  const own = e.type && typeOf(frame.scope, e.type).type;
  const items = itemsOf(cx, frame, e).map((item) => {
    const made = value(cx, item.frame, item.e);
    return own ? converted(own, made, e.at) : made;
  });
  const type = wanted ?? own ?? items.map((item) => item.type).reduce(promoted);
  const shape = given ?? { lowers: [ONE], extents: [int(items.length)] };
  const array = cx.array("items", type, shape, e.at);
  items.forEach((item, n) => cx.push(array.nth(int(n)).store(converted(type, item, e.at), e.at)));
  return array;
}

const ASKS: readonly string[] = ["present", "allocated", "associated"];

/** Their results depend on how many bits an integer has. */
const OF_ALL_BITS: readonly string[] = ["huge", "ishft", "shiftr", "popcnt", "ibits"];

function applied(cx: FortranLowering, frame: ProcedureFrame, e: Apply, index: readonly Expr[]): Expr {
  const found = designated(cx, frame, e);
  if (found) {
    if ("cell" in found) return found.cell.load(e.at);
    return elementOf(found.array, index, e.at, found.array.name, "a section of an array");
  }
  const name = treeName(e.base);
  const [asked, more] = e.args;
  if (ASKS.includes(name) && asked?.kind === "value" && !more && (asked.value.kind === "name" || asked.value.kind === "part")) {
    const { value: of } = asked;
    if (name !== "present" || !frame.isCalled) return cx.asked(frame, of);
    return constant("bool", frame.meanings.has(treeName(of)) || frame.objects!.has(treeName(of)));
  }
  const procedure = findProcedure(frame.scope, name);
  if (procedure) {
    const given = isElementalProcedure(procedure) ? elementsOf(cx, frame, e.args, index) : { frame, args: e.args };
    const made = cx.parts.inline(cx, given.frame, procedure, given.args, e.at);
    if (made?.kind === "local") return { op: "local", type: made.type, name: made.name };
    if (made) throw new Unlowerable(e.at, name, "an array is used where a single number is needed", "assign it to an array first");
    throw new Unlowerable(e.at, name, "it is a subroutine, and returns no value", `write call ${name}(…)`);
  }
  const problem = procedureProblem(frame.scope, name);
  if (problem) throw new Unlowerable(e.at, name, problem.why, problem.remedy);
  const trees = e.args.map((arg) => {
    if (arg.kind === "value") return arg;
    throw new Unlowerable(
      e.at,
      name,
      "it is declared neither as an array nor as a function",
      "declare it, or give the file with its module",
    );
  });
  const conversion = conversionOf(name);
  if (conversion !== undefined && trees.length > 0) {
    const bytes = trees[1] ? kindBytes(frame.scope, trees[1].value) : undefined;
    const a = value(cx, frame, trees[0].value, index);
    const type = bytes === 8 && conversion === "f32" ? "f64" : conversion;
    if (a.op === "const" && isSingle(type)) return constant("f32", Math.fround(Number(a.value)));
    const whole = converted(type, a, e.at, name);
    const made = bytes === 1 && isInteger(type) ? signedByte(whole) : whole;
    return isInteger(type) ? marked(cx, { ...made }, bytes === 8 ? "fits" : undefined) : made;
  }
  if (isElemental(name)) {
    const byte = OF_ALL_BITS.includes(name) && [...namesInTree(e.args)].find((each) => find(frame.scope, each)?.byte);
    if (byte) throw new Unlowerable(e.at, name, `${byte} has 8 bits, and kernels have 32-bit integers only`, "use integer(4)");
    // Only the type of a limit's argument counts, which may be an array.
    const limits = ["huge", "tiny", "epsilon"].includes(name) && index.length === 0;
    const element = (tree: Tree) => (limits ? (extentsOfExpr(cx, frame, tree)?.map(() => ZERO) ?? []) : index);
    const given = trees.map((arg) => value(cx, frame, arg.value, element(arg.value)));
    const made = elemental(name, given, e.at, cx);
    return isInteger(made.type) && given.some((arg) => cx.wide.has(arg)) ? marked(cx, { ...made }, "fits") : made;
  }
  if (name === "norm2" && e.args.length === 1) return value(cx, frame, normOf(e));
  const whole = cx.parts.overArrays(cx, frame, e, index);
  if (whole) return whole;
  const told = toldByOpenMP(name, e.at, cx);
  if (told) return told;
  return unknownFunction(name, e.at);
}

function unknownFunction(name: string, at: Location): never {
  if (/^(atomic|__?shfl|syncthreads_|ballot|anythread|allthreads)/.test(name))
    throw new Unlowerable(at, name, "kernels do not support this operation", "write i = atomicadd(x, e) by itself, or share arrays");
  if (NOT_HERE.includes(name)) throw new Unlowerable(at, name, "kernels do not have this function", "write a function that computes it");
  throw new Unlowerable(at, name, "there is no function or array of this name", "declare it, or give the file with its module");
}

/** Functions of the language that kernels do not have. */
const NOT_HERE: readonly string[] = (
  "acosh asinh atanh bessel_j0 bessel_j1 bessel_jn bessel_y0 bessel_y1 bessel_yn erf erfc erfc_scaled exponent fraction gamma ishftc log_gamma nearest " +
  "norm2 pack parity rrspacing scale set_exponent spacing transfer unpack findloc"
).split(" ");

/** `sqrt(sum(a**2))` for `norm2(a)`. */
function normOf({ args, at }: Apply): Apply {
  const applied = (name: string, value: Tree): Apply => ({
    kind: "apply",
    base: { kind: "name", name, at },
    args: [{ kind: "value", value }],
    at,
  });
  const a: Tree = { kind: "group", a: (args[0] as { value: Tree }).value, at };
  return applied("sqrt", applied("sum", { kind: "binary", op: "**", a, b: { kind: "literal", type: "integer", text: "2", at }, at }));
}

const isElementalProcedure = ({ unit }: UnitScope): boolean => unit.kind === "procedure" && unit.prefixes.includes("elemental");

/** Arguments of an elemental function: of arrays, the elements at an index. */
function elementsOf(
  cx: FortranLowering,
  frame: ProcedureFrame,
  args: readonly ActualArgument[],
  index: readonly Expr[],
): { frame: ProcedureFrame; args: ActualArgument[] } {
  let inner = frame;
  const made = args.map((arg): ActualArgument => {
    if (arg.kind !== "value" || !extentsOfExpr(cx, frame, arg.value)) return arg;
    // No name of a program has a blank.
    const name = `element ${inner.meanings.size}`;
    inner = withName(inner, name, cx.kept("element", value(cx, frame, arg.value, index)));
    return { ...arg, value: { kind: "name", name, at: arg.value.at } };
  });
  return { frame: inner, args: made };
}

/** Result of `build`, without the statements that it lowers. */
export function probe<T>(cx: FortranLowering, build: () => T): T {
  let made: T;
  cx.collect(() => (made = build()));
  return made!;
}

/** Loops over all indices of a shape, counted from 0, the first one innermost. */
export function eachIndex(cx: FortranLowering, extents: readonly Expr[], body: (index: Expr[]) => void): void {
  const nest = (axis: number, index: Expr[]): void => {
    if (axis < 0) return body(index);
    const name = cx.unique("n");
    const { location } = cx;
    const stop = cx.stable(extents[axis], "extent");
    const inner = cx.collect(() => nest(axis - 1, [{ op: "local", type: "i32", name }, ...index]));
    cx.push({ kind: "for", name, start: ZERO, stop, step: 1, body: inner, location });
  };
  nest(extents.length - 1, []);
}

function truth(e: Expr, at: Location): Expr {
  if (e.type !== "bool") throw new Unlowerable(at, "condition", "a number is used where a logical value is needed", "compare it: n /= 0");
  return e;
}
function number(e: Expr, at: Location): Expr {
  if (e.type === "bool")
    throw new Unlowerable(at, "arithmetic", "a logical value is used where a number is needed", "write merge(1, 0, …)");
  return e;
}

const ARITHMETIC = { "+": "add", "-": "sub", "*": "mul", "/": "div" } as const;
const RELATIONS = { "==": "eq", "/=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge" } as const;

function operated(cx: FortranLowering, frame: ProcedureFrame, e: Binary, index: readonly Expr[]): Expr {
  const { op, at } = e;
  const wraps = op === "+" || op === "-" || op === "*";
  const a = (wraps ? wrapping : value)(cx, frame, e.a, index);
  switch (op) {
    case "**":
      return power(cx, number(a, at), number(value(cx, frame, e.b, index), at));
    case ".and.":
    case ".or.":
      return logical(op === ".and." ? "and" : "or", truth(a, e.a.at), truth(value(cx, frame, e.b, index), e.b.at));
    case ".eqv.":
    case ".neqv.":
      return compare(op === ".eqv." ? "eq" : "ne", truth(a, e.a.at), truth(value(cx, frame, e.b, index), e.b.at));
    case "//":
      throw new Unlowerable(at, "//", "kernels have no character strings", "keep it on the host");
    case "+":
    case "-":
    case "*":
    case "/":
    case "==":
    case "/=":
    case "<":
    case "<=":
    case ">":
    case ">=": {
      const b = number((wraps ? wrapping : value)(cx, frame, e.b, index), at);
      const type = promoted(number(a, at).type, b.type);
      const wides = [a, b].map((each) => cx.wide.get(each));
      if (!isInteger(type)) wides.forEach((wide) => checkWide(wide, at));
      const [x, y] = [converted(type, a, at), converted(type, b, at)];
      if (op !== "+" && op !== "-" && op !== "*" && op !== "/") return compare(RELATIONS[op], x, y);
      return marked(cx, binary(ARITHMETIC[op], x, y), isInteger(type) ? wideResult(op, [a, wides[0]], [b, wides[1]]) : undefined);
    }
    default:
      return unreachable(op);
  }
}

/** Whole powers are products, in the order of libgcc's `__powidf2`; real ones are `pow`. */
function power(cx: FortranLowering, base: Expr, exponent: Expr): Expr {
  if (isFloat(exponent.type)) {
    const type = promoted(base.type, exponent.type);
    return call("pow", cast(type, base), cast(type, exponent));
  }
  const n = fortranConstant(exponent);
  if (typeof n !== "number" && isFloat(base.type)) return call("powi", base, exponent);
  const x = base.op === "local" || base.op === "const" || base.op === "param" ? base : cx.kept("base", base);
  if (typeof n === "number") return chain(cx, x, n);
  const one = constant(x.type, 1);
  const given = cx.kept("exponent", exponent);
  const rest = cx.local("rest", "u32", cast("u32", unary("abs", given)));
  const [left, odd]: [Expr, Expr] = [
    { op: "local", type: "u32", name: rest.name },
    compare("ne", binary("and", { op: "local", type: "u32", name: rest.name } as Expr, 1), 0),
  ];
  const product = cx.local("product", x.type, select(odd, x, one));
  const factor = cx.local("factor", x.type, x);
  const [so, by]: Expr[] = [product, factor].map(({ name, type }) => ({ op: "local", type, name }));
  const { location } = cx;
  const half = (): void => cx.assign(rest.name, binary("shr", left, constant("u32", 1)));
  half();
  const body = cx.collect(() => {
    cx.assign(factor.name, binary("mul", by, by));
    cx.push({
      kind: "if",
      cond: odd,
      then: [{ kind: "assign", name: product.name, value: binary("mul", so, by), location }],
      else: [],
      location,
    });
    half();
  });
  cx.push({ kind: "while", cond: compare("ne", left, 0), body, update: [], location });
  return cx.kept("power", select(compare("lt", given, int(0)), binary("div", one, so), so));
}

function chain(cx: FortranLowering, x: Expr, n: number): Expr {
  let factor = x;
  let product: Expr | undefined = n & 1 ? x : undefined;
  for (let rest = Math.abs(n) >>> 1; rest > 0; rest >>>= 1) {
    factor = binary("mul", factor, factor);
    if (rest > 1) factor = cx.kept("square", factor);
    if (rest & 1) product = product ? binary("mul", product, factor) : factor;
  }
  const one = constant(x.type, 1);
  return n < 0 ? binary("div", one, product!) : (product ?? one);
}
