import type { FunctionBuilder, ValType } from "./encoder.js";

/** Arithmetic on the addresses of a function: 32 bits wide, or 64 in a memory that is larger than 4 GiB. */
export class Address {
  readonly type: "i32" | "i64";

  constructor(
    private readonly fn: FunctionBuilder,
    wide: boolean,
  ) {
    this.type = wide ? "i64" : "i32";
  }

  constant(value: number): void {
    if (this.type === "i64") this.fn.i64(value);
    else this.fn.i32(value | 0);
  }

  /** Adds two addresses on the stack. */
  add(): void {
    this.fn.op(`${this.type}.add`);
  }

  /** Adds a constant to the address on the stack. */
  advance(bytes: number): void {
    if (bytes === 0) return;
    this.constant(bytes);
    this.add();
  }

  /** From an i32 on the stack to a distance of that many times `factor` bytes. */
  scale(factor: number): void {
    const { fn, type } = this;
    this.widen();
    if (factor === 1) return;
    const bits = Math.log2(factor);
    const shifts = Number.isInteger(bits);
    this.constant(shifts ? bits : factor);
    fn.op(`${type}.${shifts ? "shl" : "mul"}`);
  }

  /** From an i32 on the stack to an address or distance. */
  widen(): void {
    if (this.type === "i64") this.fn.op("i64.extend_i32_s");
  }
}

/** The type of addresses in a module. */
export const addressType = (wide: boolean): ValType => (wide ? "i64" : "i32");
