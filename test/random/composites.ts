import type { NumberType } from "../../src/ir/types.js";
import { stmt, type Context, type Dice } from "./context.js";
import type { Expressions } from "./expressions.js";
import { COMPOSITES, type CompositeName, type Part, type Stmt } from "./program.js";

/** How values of a type are made, and what they offer. */
interface Form {
  readonly type: NumberType;
  readonly fields: readonly string[];
  /** Methods with an argument of the same type that give one. */
  readonly binary: readonly string[];
  readonly unary: readonly string[];
  /** Numbers of a value `v`, as text around its name. */
  readonly numbers: readonly ((v: string) => string)[];
  readonly places?: true;
  /** Values of this type that others give: the other type, and the text between. */
  readonly from?: readonly (readonly [CompositeName, (v: string) => Part[]])[];
}

const dot = (v: string): string => `${v}.dot(${v})`;
const VECTOR = { binary: ["add", "sub", "mul", "min", "max"], places: true } as const;
const FLOATS = ["neg()", "abs()", "normalize()"];
const MATRIX = { binary: ["add", "sub", "mul"], unary: ["neg()", "transpose()", "inverse()"] } as const;
const determinants = [(v: string) => `${v}.determinant()`, (v: string) => `${v}.trace()`, (v: string) => `${v}.at(1, 0)`];

const FORMS: Readonly<Record<CompositeName, Form>> = {
  vec2: {
    ...VECTOR,
    type: "f64",
    fields: ["x", "y"],
    unary: FLOATS,
    numbers: [dot],
    from: [
      ["mat2", (m) => [`${m}.row(1)`]],
      ["vec3", (v) => [`${v}.xy`]],
    ],
  },
  vec3: {
    ...VECTOR,
    type: "f64",
    fields: ["x", "y", "z"],
    unary: FLOATS,
    numbers: [dot],
    from: [
      ["quat", (q) => [`${q}.normalize().rotate(vec3(1, -2, 0.5))`]],
      ["vec2", (v) => [`vec3(${v}, 0.25)`]],
    ],
  },
  vec3f: {
    ...VECTOR,
    type: "f32",
    fields: ["x", "y", "z"],
    unary: FLOATS,
    numbers: [dot],
    from: [["mat3f", (m) => [`${m}.mul(${m}.column(2))`]]],
  },
  vec2i: { ...VECTOR, type: "i32", fields: ["x", "y"], unary: ["neg()", "abs()"], numbers: [dot, (v) => `${v}.cross(${v}.neg())`] },
  mat2: {
    ...MATRIX,
    type: "f64",
    fields: ["m00", "m01", "m10", "m11"],
    numbers: determinants,
    from: [["vec2", (v) => [`mat2(${v}, ${v}.neg())`]]],
  },
  mat3f: {
    ...MATRIX,
    type: "f32",
    fields: [0, 1, 2].flatMap((r) => [0, 1, 2].map((c) => `m${r}${c}`)),
    numbers: determinants,
    from: [["vec3f", (v) => [`mat3f(${v}, ${v}.abs(), ${v}.neg())`]]],
  },
  quat: {
    type: "f64",
    fields: ["x", "y", "z", "w"],
    binary: ["add", "sub", "mul"],
    unary: ["neg()", "conj()", "normalize()"],
    numbers: [dot, (v) => `${v}.length()`],
  },
  complex: {
    type: "f64",
    fields: ["re", "im"],
    binary: ["add", "sub", "mul", "div"],
    unary: ["neg()", "conj()"],
    numbers: [(v) => `${v}.abs()`],
  },
};
export const NAMES = Object.keys(COMPOSITES) as CompositeName[];

/** Lists a value, and the numbers that it offers. `isPlace`: it is an element of an array, which may be assigned. */
export function listComposite(name: string, make: CompositeName, place: Context, isPlace?: true): void {
  const { type, fields, numbers, places } = FORMS[make];
  place.composites.push({ name, make, ...(isPlace && { isPlace }) });
  for (const field of fields) place.variables.push({ name: `${name}.${field}`, type, assignable: false });
  if (places) place.sources.push({ type, parts: [`${name}.at(`, ")"], args: [{ index: fields.length }] });
  for (const number of numbers) place.sources.push({ type, parts: [number(name)], args: [] });
}

/** Writes random vectors, matrices, quaternions and complex numbers. */
export class Composites {
  constructor(
    private readonly dice: Dice,
    private readonly expressions: Expressions,
  ) {}

  one(place: Context): Stmt[] {
    if (place.composites.length === 0 || this.dice.chance(30)) return this.dice.chance(15) ? this.array(place) : this.variable(place);
    const target = this.dice.pick(place.composites);
    const { type, fields } = FORMS[target.make];
    if (target.isPlace && this.dice.chance(30))
      return [stmt(`${target.name}.${this.dice.pick(fields)} = `, this.expressions.strong(type, place, 2), ";")];
    return [stmt(`${target.name} = `, ...this.value(target.make, place), ";")];
  }

  private made(make: CompositeName, place: Context): Part[] {
    const { type, fields } = FORMS[make];
    const parts = fields.flatMap((): Part[] => [", ", this.expressions.strong(type, place, 1)]);
    return [`${make}(`, ...parts.slice(1), ")"];
  }

  private variable(place: Context): Stmt[] {
    const make = this.dice.pick(NAMES);
    const name = this.dice.name("u");
    const value = place.composites.length > 0 && this.dice.chance(40) ? this.value(make, place) : this.made(make, place);
    listComposite(name, make, place);
    return [stmt(`let ${name} = `, ...value, ";")];
  }

  /** A private array, two of whose elements are assigned. */
  private array(place: Context): Stmt[] {
    const make = this.dice.pick(NAMES);
    const name = this.dice.name("q");
    for (const k of [0, 2]) listComposite(`${name}[${k}]`, make, place, true);
    return [stmt(`const ${name} = array(${make}, 3);`)];
  }

  /** A value of a type, of those that are there already. */
  private value(make: CompositeName, place: Context): Part[] {
    const { type, fields, binary, unary, places, from = [] } = FORMS[make];
    const own = place.composites.filter((each) => each.make === make);
    const other = (): Part[] => (own.length > 0 && this.dice.chance(60) ? [this.dice.pick(own).name] : this.made(make, place));
    const forms: (() => Part[])[] = [
      () => [...other(), `.${this.dice.pick(binary)}(`, ...other(), ")"],
      () => [...other(), ".scale(", this.expressions.strong(type, place, 2), `).${this.dice.pick(unary)}`],
      () => [this.expressions.of("bool", place, 2), " ? ", ...other(), " : ", ...other(), ".neg()"],
    ];
    if (places)
      forms.push(() => [
        ...other(),
        ".with(",
        this.expressions.index(fields.length, place, 1),
        ", ",
        this.expressions.strong(type, place, 2),
        ")",
      ]);
    for (const [giver, text] of from) {
      const givers = place.composites.filter((each) => each.make === giver);
      if (givers.length > 0) forms.push(...[1, 2].map(() => () => text(this.dice.pick(givers).name)));
    }
    return this.dice.pick(forms)();
  }
}
