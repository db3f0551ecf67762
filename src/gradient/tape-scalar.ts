import { describe } from "../base/describe.js";
import { LaunchError } from "../base/errors.js";
import { INSPECT } from "../base/inspect.js";

/** A number whose gradient a tape knows: one that `t.scalar` gave, or the result of a launch. */
export class TapeScalar {
  constructor(
    /** The number. Arithmetic of the host with it is not on the tape: a plain number is a constant to gradients. */
    readonly value: number,
    /** The tape that knows it. */
    readonly tape: object,
  ) {}

  [INSPECT](): string {
    return `TapeScalar ${this.value}`;
  }

  /** Refuses arithmetic, which would cut the gradient in silence. Throws LaunchError. */
  [Symbol.toPrimitive](hint: string): string {
    if (hint === "string") return String(this.value);
    throw new LaunchError(
      "a number of a tape is used in arithmetic of the host, which is not on the tape: write s.value for a constant, or compute in a kernel",
    );
  }
}

/** Throws LaunchError unless a value is a number of this tape. */
export function requireTapeScalar(what: string, value: unknown, tape: object): asserts value is TapeScalar {
  if (!(value instanceof TapeScalar)) throw new LaunchError(`${what} is given ${describe(value)}; give a view, or a number of the tape`);
  if (value.tape !== tape) throw new LaunchError(`${what} is given a number of another tape`);
}
