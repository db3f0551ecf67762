import { DeviceError, LaunchError } from "../../base/errors.js";

/** Result of measuring. */
export interface Choice<K extends string = string> {
  readonly best: K;
  /** Seconds of one iteration, or plan, each way; those that cannot run are missing. */
  readonly seconds: Readonly<Record<K, number>>;
}

/** One way to do a piece of work, ready to run. */
export interface Trial {
  readonly skeleton: { run(iterations: number): Promise<{ readonly seconds: number }> };
  /** Gives back all of its memory. */
  free(): void;
}

/** Memory does not suffice, or sizes do not fit: other ways may do. */
export const isRefusal = (error: unknown): boolean => error instanceof DeviceError || error instanceof LaunchError;
