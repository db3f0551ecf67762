import { LaunchError } from "../../base/errors.js";
import type { Graph } from "../device.js";
import type { Binding } from "../launch/binding.js";
import type { OpenclCapture, CommandQueue } from "./capture.js";

/** Captured commands, which are enqueued one after the other at each run: OpenCL 1.2 knows no graphs. */
export class OpenclGraph implements Graph {
  readonly remarks: readonly string[];
  readonly recorded: readonly Binding[];
  private readonly queues: readonly CommandQueue[];
  private freed = false;

  constructor(
    private readonly origin: CommandQueue,
    private readonly captured: OpenclCapture,
  ) {
    const { commands } = captured;
    this.queues = [...new Set(commands.map(({ queue }) => queue))].filter((queue) => queue !== origin);
    this.recorded = [...captured.launches].flatMap((launch) => launch.recorded);
    const on = this.queues.length > 0 ? `, on ${this.queues.length + 1} queues` : "";
    this.remarks = [`${commands.length} commands, enqueued one by one${on}`];
  }

  /** Enqueues it all to `queue` in place of the one that captured it, and to the others that took part. */
  enqueue(queue: CommandQueue): void {
    const { machine } = this.origin;
    if (this.freed) throw new LaunchError("a graph was freed and cannot run again; capture it anew");
    if (queue.machine !== machine)
      throw new LaunchError(`a graph that a queue of "${machine.name}" has captured was submitted to "${queue.device.name}"`);
    for (const launch of this.captured.launches) launch.requireReady();
    for (const buffer of this.captured.buffers)
      if (buffer.live === false)
        throw new LaunchError(`a graph on ${machine.name} copies a view whose memory was freed; free arrays only when no graph uses them`);
    const start = this.queues.length > 0 ? queue.record() : undefined;
    for (const other of this.queues) if (start) other.wait(start);
    for (const command of this.captured.commands) command.enqueue((command.queue === this.origin ? queue : command.queue).stream);
    for (const other of this.queues) queue.wait(other.record());
  }

  free(): void {
    if (this.freed) return;
    this.freed = true;
    for (const command of this.captured.commands) command.free?.();
  }
}
