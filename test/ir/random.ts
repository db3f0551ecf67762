import type { BinaryFn, CompareFn, Expr, KernelIR, NumberType, ScalarType, Stmt, UnaryFn } from "../../src/ir/types.js";
import {
  and,
  array,
  assign,
  bin,
  c,
  cast,
  cmp,
  declare,
  define,
  element,
  entry,
  extent,
  i,
  kernel,
  leave,
  load,
  local,
  loop,
  loopWhile,
  mul,
  n,
  or,
  reduce,
  scalar,
  scatter,
  select,
  setElement,
  skip,
  store,
  table,
  target,
  total,
  un,
  value,
  view,
  when,
} from "./build.js";
import type { Memory } from "./interpret.js";

/** Length of every view and scatter target of a random kernel. */
export const EXTENT = 4;
/** Views that a random kernel reads at any index, with their types, and the ones that it writes at its own. */
export const INPUTS = { xd: "f64", xs: "f32", xi: "i32", xu: "u32" } as const;
export const OUTPUTS = { yd: "f64", ys: "f32", yi: "i32", yu: "u32" } as const;
export const SCALARS = { pd: "f64", pi: "i32", pb: "bool" } as const;

const TYPES: readonly NumberType[] = ["f64", "f32", "i32", "u32"];
const CONSTANTS: Record<NumberType, readonly number[]> = {
  f64: [0, 1, -0, 2, -1, 0.1, NaN, Infinity, -1e300, 4e9],
  f32: [0, 1, -0, 2, -1, Math.fround(0.1), NaN, -Infinity, 16777216, Math.fround(3e38)],
  i32: [0, 1, 2, 3, -1, 31, -2147483648, 2147483647],
  u32: [0, 1, 2, 3, 31, 4294967295, 2147483648],
};
const NUMBER_BINARY: readonly BinaryFn[] = ["add", "mul", "sub", "div", "min", "max", "rem"];
const FLOAT_BINARY: readonly BinaryFn[] = [...NUMBER_BINARY, "copysign"];
const INTEGER_BINARY: readonly BinaryFn[] = [...NUMBER_BINARY, "and", "or", "xor", "shl", "shr"];
const COMPARE: readonly CompareFn[] = ["lt", "eq", "ne", "le", "gt", "ge"];
const FLOAT_UNARY: readonly UnaryFn[] = ["neg", "abs", "sqrt", "floor", "ceil", "trunc", "round"];

interface Scope {
  /** Readable locals with their types, and those that may be assigned. */
  locals: [name: string, type: ScalarType][];
  mutable: [name: string, type: ScalarType][];
  /** Private arrays of four elements. */
  arrays: [name: string, type: NumberType][];
  inLoop: boolean;
  /** Places that are read, in place of the element's own. */
  places?: readonly Expr[];
}

/** A sound kernel of rank 1 grown from a list of choices; shorter lists and smaller choices give simpler kernels. */
export function randomKernel(choices: readonly number[]): KernelIR {
  return new Grower(choices).kernel();
}

/**
 * The same of nothing but assignments, stores and loops whose turns are the same for all elements. Where they are `short`, an element carries one
 * value, and each turn reads.
 */
export function randomLoops(choices: readonly number[], short = false): KernelIR {
  return new Grower(choices, short ? "short" : "long").kernel();
}

/**
 * The same of loops whose turns fold what lies side by side, and leave nothing else: as many turns as data say, up to `FOLDED` of them. Its views hold
 * 3 * FOLDED elements or more.
 */
export function randomFolds(choices: readonly number[]): KernelIR {
  return new Grower(choices, "folds").kernel();
}

/** Turns of a loop of folds, at most, and values of its counter: a power of 2. */
const FOLDED = 32;

/** Memory for `interpret` to run a random kernel on. */
export function randomMemory(): Memory {
  const zeros = () => Array<number>(EXTENT).fill(0);
  return {
    xd: [0.1, -0, NaN, -3e9],
    xs: [0.5, -0, 16777217, Infinity].map(Math.fround),
    xi: [3, -1, 2147483647, 0],
    xu: [3, 4294967295, 0, 2147483648],
    yd: zeros(),
    ys: zeros(),
    yi: zeros(),
    yu: zeros(),
    h: zeros(),
    s: [0],
  };
}

class Grower {
  private at = 0;
  private names = 0;

  constructor(
    private readonly choices: readonly number[],
    private readonly plain?: "short" | "long" | "folds",
  ) {}

  kernel(): KernelIR {
    const params = [
      ...Object.entries({ ...INPUTS, ...OUTPUTS }).map(([name, type]) => view(name, 1, type)),
      ...Object.entries(SCALARS).map(([name, type]) => value(name, type)),
      ...(this.plain ? [] : [target("h"), total("s")]),
    ];
    const body =
      this.plain === "folds"
        ? this.foldLoops()
        : this.plain
          ? this.loops()
          : this.block({ locals: [], mutable: [], arrays: [], inLoop: false }, 3, 30);
    return kernel(params, body, { tables: [table("t", [0.5, -0, 3, 7])] });
  }

  /** A number below `limit`; 0 when the choices have run out. */
  private pick(limit: number): number {
    return (this.choices[this.at++] ?? 0) % limit;
  }
  private oneOf<T>(list: readonly T[]): T {
    return list[this.pick(list.length)];
  }
  private name(prefix: string): string {
    return `${prefix}${this.names++}`;
  }

  private block(outer: Scope, depth: number, most: number): Stmt[] {
    const scope: Scope = { ...outer, locals: [...outer.locals], mutable: [...outer.mutable], arrays: [...outer.arrays] };
    return Array.from({ length: 1 + this.pick(most) }, () => this.stmts(scope, depth)).flat();
  }

  private stmts(scope: Scope, depth: number): Stmt[] {
    const type = this.oneOf(TYPES);
    if (this.plain) return this.plainStmts(scope, depth, type);
    switch (this.pick(depth > 0 ? 13 : 8)) {
      default:
        return [store(Object.keys(OUTPUTS)[TYPES.indexOf(type)], [i], this.expr(type, 3, scope))];
      case 1: {
        const stmt = define(this.name("v"), this.expr(type, 3, scope));
        this.declare(scope, (stmt as { name: string }).name, type);
        return [stmt];
      }
      case 2: {
        if (scope.mutable.length === 0) return [reduce("s", this.expr("f64", 2, scope))];
        const [name, is] = this.oneOf(scope.mutable);
        return [assign(name, this.expr(is, 3, scope))];
      }
      case 3:
        return [reduce("s", this.expr("f64", 2, scope))];
      case 4:
        return [scatter("h", [this.place(scope)], this.expr("f64", 2, scope))];
      case 5: {
        const name = this.name("a");
        scope.arrays.push([name, type]);
        return [array(name, 4, "private", type)];
      }
      case 6: {
        if (scope.arrays.length === 0) return [];
        const [name, is] = this.oneOf(scope.arrays);
        return [setElement(name, this.place(scope), this.expr(is, 3, scope))];
      }
      case 7:
        return scope.inLoop ? [when(this.expr("bool", 2, scope), [this.pick(2) ? leave() : skip()])] : [];
      case 8:
        return [when(this.expr("bool", 2, scope), this.block(scope, depth - 1, 2), this.pick(2) ? this.block(scope, depth - 1, 2) : [])];
      case 9:
      case 10: {
        const name = this.name("k");
        const inner = { ...scope, locals: [...scope.locals, [name, "i32"] as [string, ScalarType]], inLoop: true };
        const [start, turns, step] = [this.pick(4), this.pick(4), this.oneOf([1, -1, 2, -2])];
        const stop = this.pick(2) ? bin("and", this.expr("i32", 2, scope), n(3)) : n(start + turns * step);
        return [loop(name, n(start), stop, this.block(inner, depth - 1, 3), step)];
      }
      case 11: {
        const name = this.name("c");
        const going = cmp("lt", local(name, "i32"), n(1 + this.pick(3)));
        const body = this.block({ ...scope, locals: [...scope.locals, [name, "i32"]], inLoop: true }, depth - 1, 3);
        return [
          define(name, n(0)),
          loopWhile(and(going, this.expr("bool", 1, scope)), body, [assign(name, bin("add", local(name, "i32"), n(1)))]),
        ];
      }
      case 12: {
        const name = this.name("w");
        const branch = () => [assign(name, this.expr(type, 2, scope))];
        const stmts = [declare(name, type), when(this.expr("bool", 1, scope), branch(), branch())];
        this.declare(scope, name, type);
        return stmts;
      }
    }
  }

  /** Values of an element that loops change, and that are stored after them. */
  private loops(): Stmt[] {
    const short = this.plain === "short";
    const carried = TYPES.slice(0, short ? 1 : undefined).map((type, at): [string, NumberType] => [`e${at}`, type]);
    const own = (names: object, at: number): [string, Expr[]] => [Object.keys(names)[at], [i]];
    const before = carried.map(([name, type], at) => define(name, load(...own(INPUTS, at), type)));
    const body = this.block({ locals: carried, mutable: carried, arrays: [], inLoop: false }, 2, short ? 2 : 5);
    return [...before, ...body, ...carried.map(([name, type], at) => store(...own(OUTPUTS, at), local(name, type)))];
  }

  /** Loops over a number of turns of the element's own, which fold into its values. */
  private foldLoops(): Stmt[] {
    const folds = TYPES.map((type, at) => ({ name: `e${at}`, type, fn: this.oneOf(["add", "add", "sub", "min", "max"] as const) }));
    const names = [Object.keys(INPUTS), Object.keys(OUTPUTS)];
    const before = folds.map(({ name, type }, at) => define(name, load(names[0][at], [i], type)));
    const after = folds.map(({ name, type }, at) => store(names[1][at], [i], local(name, type)));
    const loops = Array.from({ length: 1 + this.pick(2) }, (): Stmt[] => {
      const [first, end, k] = ["first", "end", "k"].map((name) => this.name(name));
      const at = local(k, "i32");
      const places = [at, bin("add", at, n(1)), bin("add", mul(at, n(2)), n(1)), i];
      const most = (this.pick(2) ? FOLDED : 4) - 1;
      const scope = { locals: [[k, "i32"]] as [string, ScalarType][], mutable: [], arrays: [], inLoop: false, places };
      return [
        define(first, bin("and", load("xi", [i], "i32"), n(FOLDED / 2 - 1))),
        define(end, bin("add", local(first, "i32"), bin("and", cast("i32", load("xu", [i], "u32")), n(most >> 1)))),
        loop(k, local(first, "i32"), local(end, "i32"), this.foldBlock(scope, folds, 2), 1),
      ];
    });
    return [...before, ...loops.flat(), ...after];
  }

  private foldBlock(
    outer: Scope,
    folds: readonly { readonly name: string; readonly type: NumberType; readonly fn: BinaryFn }[],
    depth: number,
  ): Stmt[] {
    const scope = { ...outer, locals: [...outer.locals], mutable: [] };
    return Array.from({ length: 1 + this.pick(3) }, (): Stmt => {
      const choice = this.pick(depth > 0 ? 4 : 3);
      if (choice === 3)
        return when(
          this.expr("bool", 2, scope),
          this.foldBlock(scope, folds, depth - 1),
          this.pick(2) ? this.foldBlock(scope, folds, depth - 1) : [],
        );
      if (choice === 2) {
        const type = this.oneOf(TYPES);
        const stmt = define(this.name("v"), this.expr(type, 2, scope));
        this.declare(scope, (stmt as { name: string }).name, type);
        return stmt;
      }
      const { name, type, fn } = this.oneOf(folds);
      return assign(name, bin(fn, local(name, type), this.expr(type, 2, scope)));
    });
  }

  private plainStmts(scope: Scope, depth: number, type: NumberType): Stmt[] {
    switch (this.pick(depth > 0 ? 7 : 4)) {
      case 0:
        return [store(Object.keys(OUTPUTS)[TYPES.indexOf(type)], [i], this.expr(type, 2, scope))];
      case 1: {
        const stmt = define(this.name("v"), this.expr(type, 2, scope));
        this.declare(scope, (stmt as { name: string }).name, type);
        return [stmt];
      }
      case 2:
      case 3: {
        const [name, is] = this.oneOf(scope.mutable);
        return [assign(name, this.expr(is, 2, scope))];
      }
      default: {
        const name = this.name("k");
        const [start, turns, step] = [this.pick(4), this.pick(4), this.oneOf([1, -1, 2, -2])];
        const stop = this.pick(2) ? bin("and", scalar("pi", "i32"), n(3)) : n(start + turns * step);
        const inner = { ...scope, locals: [...scope.locals, [name, "i32"] as [string, ScalarType]] };
        if (this.plain === "long") return [loop(name, n(start), stop, this.block(inner, depth - 1, 3), step)];
        const read = assign("e0", bin(this.oneOf(FLOAT_BINARY.slice(0, 3)), local("e0"), load("xd", [i])));
        return [loop(name, n(start), stop, [read, ...this.block(inner, depth - 1, 1)], step)];
      }
    }
  }

  private declare(scope: Scope, name: string, type: ScalarType): void {
    scope.locals.push([name, type]);
    scope.mutable.push([name, type]);
  }

  /** An index that lies inside every array. */
  private place(scope: Scope): Expr {
    const constant = n(this.pick(EXTENT));
    return this.pick(2) ? bin("and", this.expr("i32", 1, scope), n(EXTENT - 1)) : constant;
  }

  /** The place of a neighbour, around the ends of the view. */
  private around(): Expr {
    return bin("rem", bin("add", bin("add", i, n(this.pick(5) - 2)), extent("xd")), extent("xd"));
  }

  private expr(type: ScalarType, depth: number, scope: Scope): Expr {
    const choice = this.pick(depth > 0 ? 10 : 5);
    if (choice === 3) return scalarOf(type) ?? this.leaf(type, scope);
    if (choice < 5) return this.leaf(type, scope);
    const sub = (of: ScalarType) => this.expr(of, depth - 1, scope);
    if (choice === 5) return select(sub("bool"), sub(type), sub(type));
    if (type === "bool") return this.condition(sub);
    const float = type === "f64" || type === "f32";
    if (choice === 6) return cast(type, sub(this.oneOf<ScalarType>([...TYPES, "bool"])));
    if (choice === 7) return un(float ? this.oneOf(FLOAT_UNARY) : this.oneOf(["neg", "bitnot", "abs"] as const), sub(type));
    if (choice === 8 && float && !this.plain)
      return { op: "call", type, fn: "powi", args: [sub(type), this.pick(2) ? n(this.pick(21) - 10) : sub("i32")] };
    if (choice === 8 && type === "u32") return bin("mulhi", sub(type), sub(type));
    return bin(this.oneOf(float ? FLOAT_BINARY : INTEGER_BINARY), sub(type), sub(type));
  }

  private condition(sub: (type: ScalarType) => Expr): Expr {
    switch (this.pick(6)) {
      case 0:
        return un("not", sub("bool"));
      case 1:
        return and(sub("bool"), sub("bool"));
      case 2:
        return or(sub("bool"), sub("bool"));
      case 3:
        return cast("bool", sub(this.oneOf(TYPES)));
      default: {
        const of = this.oneOf(TYPES);
        return cmp(this.oneOf(COMPARE), sub(of), sub(of));
      }
    }
  }

  private leaf(whole: ScalarType, scope: Scope): Expr {
    const type = whole as NumberType | "bool";
    const locals = scope.locals.filter(([, of]) => of === type);
    const arrays = scope.arrays.filter(([, of]) => of === type);
    const choice = this.pick(6);
    if (choice >= 3 && locals.length > 0) return local(this.oneOf(locals)[0], type);
    if (type === "bool") return c("bool", choice === 0);
    if (choice === 2 && arrays.length > 0) return element(this.oneOf(arrays)[0], this.place(scope), type);
    // What all elements read from one place.
    if (choice === 1 && this.plain && this.pick(2)) return load(Object.keys(INPUTS)[TYPES.indexOf(type)], [n(this.pick(EXTENT))], type);
    if (choice === 1) {
      const outputs = this.pick(2) && this.plain !== "folds";
      const place = this.oneOf(scope.places ?? [i]);
      return load(Object.keys(outputs ? OUTPUTS : INPUTS)[TYPES.indexOf(type)], [outputs || this.pick(3) ? place : this.around()], type);
    }
    if (choice === 2 && type === "f64") return entry("t", [this.place(scope)]);
    if (choice === 2 && type === "i32") return this.pick(2) ? extent("xd") : mul(i, n(this.pick(3)));
    return c(type, this.oneOf(CONSTANTS[type]));
  }
}

const scalarOf = (type: ScalarType): Expr | undefined => {
  const name = Object.entries(SCALARS).find(([, of]) => of === type)?.[0];
  return name ? scalar(name, type) : undefined;
};
