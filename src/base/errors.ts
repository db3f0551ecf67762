import type { Location } from "./location.js";

/* Names are on the prototypes, so that stacks begin with them. */

/** Anything the user can put right: its message names the thing and the remedy. The command line prints it without a stack and exits with 2. */
export class IsoformError extends Error {
  static {
    this.prototype.name = "IsoformError";
  }
}

let frameOf: ((location: Location) => string | undefined) | undefined;
/** Gives errors of kernels the author's lines, where files can be read. */
export const showLines = (by: typeof frameOf): void => void (frameOf = by);

/** A kernel that is outside the language or would race. */
export class KernelError extends IsoformError {
  static {
    this.prototype.name = "KernelError";
  }
  /** The author's line, with a mark below the column; it stands in the stack, too. */
  readonly frame: string | undefined;
  constructor(
    readonly kernel: string,
    readonly location: Location,
    readonly problem: string,
    readonly remedy?: string,
    what = "kernel",
  ) {
    super(`${what} "${kernel}", ${location.file}:${location.line}:${location.column}: ${problem}${remedy ? ` (${remedy})` : ""}`);
    this.frame = frameOf?.(location);
    if (this.frame) this.stack = this.stack?.replace(this.message, () => `${this.message}\n${this.frame}`);
  }
}

/** A container that is outside the language, that mixes grids or that would race. */
export class ContainerError extends KernelError {
  static {
    this.prototype.name = "ContainerError";
  }
  constructor(container: string, location: Location, problem: string, remedy?: string) {
    super(container, location, problem, remedy, "container");
  }
}

/** A kernel whose gradient is not known, or would be wrong. */
export class GradientError extends KernelError {
  static {
    this.prototype.name = "GradientError";
  }
}

/** Code that breaks a rule of the IR: a mistake of a front end or a pass, so that it is no IsoformError. */
export class IRError extends Error {
  static {
    this.prototype.name = "IRError";
  }
  constructor(
    /** Undefined if an expression is wrong by itself. */
    readonly kernel: string | undefined,
    /** The statement's place. */
    readonly location: Location | undefined,
    readonly problem: string,
  ) {
    const at = location ? `, ${location.file}:${location.line}:${location.column}` : "";
    super(`invalid code${kernel === undefined ? "" : ` for kernel "${kernel}"`}${at}: ${problem}`);
  }
}

/** Arguments, shapes or sizes that do not fit a kernel or a device. */
export class LaunchError extends IsoformError {
  static {
    this.prototype.name = "LaunchError";
  }
}

/** A device that cannot be opened, or that failed. */
export class DeviceError extends IsoformError {
  static {
    this.prototype.name = "DeviceError";
  }
  constructor(
    readonly device: string,
    readonly problem: string,
    readonly remedy?: string,
  ) {
    super(`device "${device}": ${problem}${remedy ? ` (${remedy})` : ""}`);
  }
}

/** A kernel that the language of a target cannot express. */
export class EmitError extends IsoformError {
  static {
    this.prototype.name = "EmitError";
  }
  constructor(
    readonly kernel: string,
    readonly target: string,
    readonly problem: string,
    readonly remedy: string,
  ) {
    super(`kernel "${kernel}" cannot be written for ${target}: ${problem} (${remedy})`);
  }
}
