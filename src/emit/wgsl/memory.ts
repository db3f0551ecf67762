import { isDouble, isPacked } from "../../ir/scalars.js";
import { unreachable } from "../../base/unreachable.js";
import type { ElementType } from "../../ir/types.js";
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
      return WGSL_TYPES[representation];
    default:
      return unreachable(representation);
  }
}

/** Functions that read and write elements of a type in a buffer that is declared otherwise, by name. */
export class Accessors {
  private readonly definitions = new Map<string, string>();

  /** The element of `buffer` at `offset`, which counts elements of `type`. */
  load(buffer: string, representation: Representation, type: ElementType, offset: string): string {
    if (representation === type) return `${buffer}[${offset}]`;
    const name = `${buffer}_${type}`;
    const word = (at: string) => wordOf(buffer, representation, at);
    if (isPacked(type)) this.define(name, `fn ${name}(i: i32) -> i32 { return i32((${word("i >> 2u")} >> (u32(i & 3) * 8u)) & 255u); }`);
    else if (isDouble(type))
      this.define(
        name,
        `fn ${name}(i: i32) -> vec2<f32> { return vec2<f32>(bitcast<f32>(${word("2 * i")}), bitcast<f32>(${word("2 * i + 1")})); }`,
      );
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
    if (isPacked(type))
      // Four elements share a word, and others may write theirs meanwhile.
      this.define(
        name,
        [
          `fn ${name}(i: i32, value: i32) {`,
          `  let shift = u32(i & 3) * 8u;`,
          `  atomicAnd(&${buffer}[i >> 2u], ~(255u << shift));`,
          `  atomicOr(&${buffer}[i >> 2u], (u32(value) & 255u) << shift);`,
          `}`,
        ].join("\n"),
      );
    else if (isDouble(type))
      this.define(
        name,
        `fn ${name}(i: i32, value: vec2<f32>) { ${set("2 * i", "bitcast<u32>(value.x)")} ${set("2 * i + 1", "bitcast<u32>(value.y)")} }`,
      );
    else this.define(name, `fn ${name}(i: i32, value: ${WGSL_TYPES[type]}) { ${set("i", "bitcast<u32>(value)")} }`);
    return `${name}(${offset}, ${value});`;
  }

  define(name: string, text: string): void {
    this.definitions.set(name, text);
  }

  toString(): string {
    return [...this.definitions.values()].map((text) => `${text}\n`).join("");
  }
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
    case "f64":
    case "f32":
    case "i32":
      return `bitcast<u32>(${buffer}[${at}])`;
    default:
      return unreachable(representation);
  }
}
