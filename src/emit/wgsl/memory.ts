import { BYTES, isDouble, isHalf, isPacked, isSigned, isWide, valueType, type PackedType } from "../../ir/scalars.js";
import { unreachable } from "../../base/unreachable.js";
import type { AtomicFn, AtomicType, ElementType } from "../../ir/types.js";
import { Halves } from "./halves.js";
import { WGSL_TYPES, type Representation } from "./shader-program.js";

/** The element type of a storage buffer's array. */
export function declaredType(representation: Representation): string {
  switch (representation) {
    case "words":
      return "u32";
    case "atomic_i32":
      return "atomic<i32>";
    case "atomic_u32":
      return "atomic<u32>";
    case "f64":
    case "f32":
    case "i32":
    case "u32":
    case "i64":
    case "u64":
      return WGSL_TYPES[representation];
    default:
      return unreachable(representation);
  }
}

/** Functions that read and write elements of a type in a buffer that is declared otherwise, by name. */
export class Accessors {
  private readonly definitions = new Map<string, string>();
  private readonly halves: Halves;

  /** @param strict rounds to nearest by operations on bits, as the language's own function may round otherwise */
  constructor(strict: boolean) {
    this.halves = new Halves(this, strict);
  }

  /** The element of `buffer` at `offset`, which counts elements of `type`. */
  load(buffer: string, representation: Representation, type: ElementType, offset: string): string {
    if (representation === type) return `${buffer}[${offset}]`;
    const name = `${buffer}_${type}`;
    const word = (at: string) => wordOf(buffer, representation, at);
    if (isPacked(type)) {
      const { shift, of, bits } = partOf(type);
      const value = isHalf(type)
        ? this.halves.from(type, `${word(of)} >> ${shift}`)
        : isSigned(type)
          ? `extractBits(bitcast<i32>(${word(of)}), ${shift}, ${bits}u)`
          : `i32(extractBits(${word(of)}, ${shift}, ${bits}u))`;
      this.define(name, `fn ${name}(i: i32) -> ${WGSL_TYPES[valueType(type)]} { return ${value}; }`);
    } else if (isDouble(type))
      this.define(
        name,
        `fn ${name}(i: i32) -> vec2<f32> { return vec2<f32>(bitcast<f32>(${word("2 * i")}), bitcast<f32>(${word("2 * i + 1")})); }`,
      );
    else if (isWide(type))
      this.define(name, `fn ${name}(i: i32) -> vec2<u32> { return vec2<u32>(${word("2 * i")}, ${word("2 * i + 1")}); }`);
    else this.define(name, `fn ${name}(i: i32) -> ${WGSL_TYPES[type]} { return bitcast<${WGSL_TYPES[type]}>(${word("i")}); }`);
    return `${name}(${offset})`;
  }

  /** A statement that stores `value`. */
  store(buffer: string, representation: Representation, type: ElementType, offset: string, value: string): string {
    if (representation === type) return `${buffer}[${offset}] = ${value};`;
    const name = `${buffer}_set_${type}`;
    const set = (at: string, bits: string) =>
      representation === "words"
        ? `${buffer}[${at}] = ${bits};`
        : `atomicStore(&${buffer}[${at}], ${representation === "atomic_i32" ? `bitcast<i32>(${bits})` : bits});`;
    if (isPacked(type)) {
      // Several elements share a word, and others may write theirs meanwhile.
      const { shift, of, bits } = partOf(type);
      const mask = `${2 ** bits - 1}u`;
      const held = isHalf(type) ? this.halves.to(type, "value") : `u32(value) & ${mask}`;
      this.define(
        name,
        [
          `fn ${name}(i: i32, value: ${WGSL_TYPES[valueType(type)]}) {`,
          `  let shift = ${shift};`,
          `  atomicAnd(&${buffer}[${of}], ~(${mask} << shift));`,
          `  atomicOr(&${buffer}[${of}], (${held}) << shift);`,
          `}`,
        ].join("\n"),
      );
    } else if (isDouble(type))
      this.define(
        name,
        `fn ${name}(i: i32, value: vec2<f32>) { ${set("2 * i", "bitcast<u32>(value.x)")} ${set("2 * i + 1", "bitcast<u32>(value.y)")} }`,
      );
    else if (isWide(type))
      this.define(name, `fn ${name}(i: i32, value: vec2<u32>) { ${set("2 * i", "value.x")} ${set("2 * i + 1", "value.y")} }`);
    else this.define(name, `fn ${name}(i: i32, value: ${WGSL_TYPES[type]}) { ${set("i", "bitcast<u32>(value)")} }`);
    return `${name}(${offset}, ${value});`;
  }

  /** An expression that changes a whole number by an atomic operation, and gives what was there. */
  fetch(
    buffer: string,
    representation: Representation,
    type: AtomicType,
    fn: AtomicFn,
    offset: string,
    operands: readonly string[],
  ): string {
    const cell: AtomicType = representation === "atomic_i32" ? "i32" : "u32";
    const inCell = (value: string): string => (cell === type ? value : `bitcast<${cell}>(${value})`);
    const inType = (value: string): string => (cell === type ? value : `bitcast<${type}>(${value})`);
    const name = fetchName(fn);
    if (name && (cell === type || (fn !== "min" && fn !== "max")))
      return inType(`${name}(${[`&${buffer}[${offset}]`, ...operands.map(inCell)].join(", ")})`);
    const own = `${buffer}_${fn}_${type}`;
    const at = `&${buffer}[i]`;
    const exchange = (expected: string, value: string): string[] => [
      `    let found = atomicCompareExchangeWeak(${at}, ${inCell(expected)}, ${inCell(value)});`,
      `    before = ${inType("found.old_value")};`,
    ];
    // An exchange may fail where the value is the expected one.
    const lines =
      fn === "compareExchange"
        ? [
            `fn ${own}(i: i32, expected: ${type}, value: ${type}) -> ${type} {`,
            `  var before = ${type}();`,
            `  loop {`,
            ...exchange("expected", "value"),
            `    if found.exchanged || before != expected { break; }`,
          ]
        : [
            `fn ${own}(i: i32, value: ${type}) -> ${type} {`,
            `  var before = ${inType(`atomicLoad(${at})`)};`,
            `  loop {`,
            ...exchange("before", `${fn}(before, value)`),
            `    if found.exchanged { break; }`,
          ];
    this.define(own, [...lines, `  }`, `  return before;`, `}`].join("\n"));
    return `${own}(${[offset, ...operands].join(", ")})`;
  }

  define(name: string, text: string): void {
    this.definitions.set(name, text);
  }

  toString(): string {
    return [...this.definitions.values()].map((text) => `${text}\n`).join("");
  }
}

/** The language's function; it has none that exchanges for certain. */
function fetchName(fn: AtomicFn): string | undefined {
  switch (fn) {
    case "add":
      return "atomicAdd";
    case "min":
      return "atomicMin";
    case "max":
      return "atomicMax";
    case "and":
      return "atomicAnd";
    case "or":
      return "atomicOr";
    case "xor":
      return "atomicXor";
    case "exchange":
      return "atomicExchange";
    case "load":
      return "atomicLoad";
    case "compareExchange":
      return undefined;
    default:
      return unreachable(fn);
  }
}

/** The word of element `i` that several share, the place of its lowest bit there, and how many bits it has. */
function partOf(type: PackedType): { of: string; shift: string; bits: number } {
  const bits = 8 * BYTES[type];
  return bits === 8 ? { of: "i >> 2u", shift: "(u32(i & 3) * 8u)", bits } : { of: "i >> 1u", shift: "(u32(i & 1) * 16u)", bits };
}

/** A word of the buffer as u32. */
function wordOf(buffer: string, representation: Representation, at: string): string {
  switch (representation) {
    case "words":
    case "u32":
      return `${buffer}[${at}]`;
    case "atomic_u32":
      return `atomicLoad(&${buffer}[${at}])`;
    case "atomic_i32":
      return `bitcast<u32>(atomicLoad(&${buffer}[${at}]))`;
    case "i64":
    case "u64":
      throw new Error(`a word of a buffer of ${representation}`);
    case "f64":
    case "f32":
    case "i32":
      return `bitcast<u32>(${buffer}[${at}])`;
    default:
      return unreachable(representation);
  }
}
