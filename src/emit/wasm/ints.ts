import type { FunctionBuilder } from "./encoder.js";

/** An unsigned 32-bit number at run time, or a constant; operations on it make others. For the bookkeeping of loops. */
export class Int {
  private constructor(
    private readonly fn: FunctionBuilder,
    private readonly value: number | (() => void),
  ) {}

  static constant(fn: FunctionBuilder, value: number): Int {
    return new Int(fn, value);
  }
  static of(fn: FunctionBuilder, value: Int | number): Int {
    return typeof value === "number" ? Int.constant(fn, value) : value;
  }
  static local(fn: FunctionBuilder, local: number): Int {
    return new Int(fn, () => fn.get(local));
  }

  /** Leaves it on the stack. */
  emit(): void {
    if (typeof this.value === "number") this.fn.i32(this.value);
    else this.value();
  }
  /** Sets a local to it. */
  to(local: number): void {
    this.emit();
    this.fn.set(local);
  }

  plus(other: Int | number): Int {
    return other === 0 ? this : this.with(other, "add");
  }
  minus(other: Int | number): Int {
    return this.with(other, "sub");
  }
  times(other: Int | number): Int {
    return other === 1 ? this : this.with(other, "mul");
  }
  over(other: Int | number): Int {
    return other === 1 ? this : this.with(other, "div_u");
  }
  modulo(other: Int | number): Int {
    return this.with(other, "rem_u");
  }
  isBelow(other: Int | number): Int {
    return this.with(other, "lt_u");
  }
  /** The lesser of the two; both are computed twice. */
  orAtMost(other: Int | number): Int {
    const limit = this.lift(other);
    return new Int(this.fn, () => {
      this.emit();
      limit.emit();
      this.isBelow(limit).emit();
      this.fn.op("select");
    });
  }

  private lift(other: Int | number): Int {
    return typeof other === "number" ? Int.constant(this.fn, other) : other;
  }
  private with(other: Int | number, op: string): Int {
    const b = this.lift(other);
    return new Int(this.fn, () => {
      this.emit();
      b.emit();
      this.fn.op(`i32.${op}`);
    });
  }
}
