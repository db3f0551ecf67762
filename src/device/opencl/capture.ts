import { LaunchError } from "../../base/errors.js";
import type { Queue } from "../device.js";
import type { GpuLaunch } from "../gpu/launch.js";
import type { OpenclHandle } from "./api.js";
import type { Buffer } from "../memory/view.js";

/** A queue that commands go to. */
export interface CommandQueue extends Queue {
  readonly machine: { readonly name: string };
  readonly stream: OpenclHandle;
}

/** Something that a queue was given to enqueue. */
interface Command {
  readonly queue: CommandQueue;
  enqueue(stream: OpenclHandle): void;
  free?(): void;
}

/** Work that queues were given during a capture, and the objects that it refers to. */
export class OpenclCapture {
  readonly commands: Command[] = [];
  readonly launches = new Set<GpuLaunch>();
  readonly buffers = new Set<Buffer>();
}

let current: OpenclCapture | undefined;

/** The capture in progress, if any. */
export const openclCapturing = (): OpenclCapture | undefined => current;

/** Captures the work that all OpenCL queues are given while `record` runs. Throws LaunchError inside another capture. */
export function captureCommands(record: () => void): OpenclCapture {
  if (current) throw new LaunchError("a capture inside a capture: capture the inner work on its own, before");
  const captured = new OpenclCapture();
  current = captured;
  try {
    record();
  } catch (error) {
    for (const command of captured.commands) command.free?.();
    throw error;
  } finally {
    current = undefined;
  }
  return captured;
}
