import { LaunchError, type View } from "isoform";
import type { Graph } from "isoform/backend";
import type { InterpreterDevice } from "./device.js";

/** A launch, copy or clear of a graph. */
export interface Captured {
  readonly work: () => void;
  /** Throws where it can no longer run. */
  readonly requireReady?: () => void;
  /** What is copied and cleared. */
  readonly views: readonly View[];
}

/** Captured work, which runs one after the other. */
export class InterpreterGraph implements Graph {
  private freed = false;

  constructor(
    private readonly device: InterpreterDevice,
    private readonly captured: readonly Captured[],
  ) {}

  get remarks(): readonly string[] {
    return [`${this.captured.length} launches and copies, one after the other`];
  }

  run(): void {
    this.device.requireOpen();
    if (this.freed) throw new LaunchError("a graph was freed and cannot run again; capture it anew");
    for (const { requireReady, views } of this.captured) {
      requireReady?.();
      if (views.some(({ buffer }) => buffer.live === false))
        throw new LaunchError("a graph copies or clears a view whose memory was freed; free arrays only when no graph uses them");
    }
    for (const { work } of this.captured) work();
  }

  free(): void {
    this.freed = true;
  }
}
