import { describe } from "../../base/describe.js";
import { LaunchError } from "../../base/errors.js";
import type { LaunchOptions, DeviceRunOptions } from "../device.js";

/** The options of a launch that runs once, and the signal that may end it. Throws LaunchError for any other value, and the reason of a signal that was given already. */
export function withoutSignal(asked: DeviceRunOptions): [LaunchOptions, AbortSignal | undefined] {
  if (asked?.signal === undefined) return [asked, undefined];
  const { signal, ...options } = asked;
  requireSignal(signal);
  signal.throwIfAborted();
  return [options, signal];
}

/** Throws LaunchError for any other value. */
export function requireSignal(signal: AbortSignal): void {
  if (!(signal instanceof AbortSignal)) throw new LaunchError(`signal is ${describe(signal)}; give the signal of an AbortController`);
}
