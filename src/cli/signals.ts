import { runningJob } from "../set/job.js";
import type { Interruption } from "../portability/application.js";

/** Signals that end a command from outside, with their exit codes: Ctrl-C, and the end of a batch job's time. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;

/** Catches the first signal, so that the work can end in order; a second one ends the process at once. */
export class SignalInterruption implements Interruption {
  /** Aborted by the first signal. */
  readonly stop: AbortSignal;
  /** The first signal, once there was one. */
  signal?: keyof typeof SIGNALS;
  private readonly listeners: readonly (readonly [string, () => void])[];

  constructor() {
    const controller = new AbortController();
    this.stop = controller.signal;
    this.listeners = (Object.keys(SIGNALS) as (keyof typeof SIGNALS)[]).map((name) => {
      const listener = (): void => {
        this.signal = name;
        // Launchers send a signal to all processes, which end in order.
        runningJob()?.leaveTogether();
        this.ignore();
        controller.abort();
      };
      process.on(name, listener);
      return [name, listener];
    });
  }

  /** Exit code after the signal, as shells have it. */
  get exitCode(): number {
    return this.signal === undefined ? 0 : SIGNALS[this.signal];
  }

  /** Restores the default effect of signals. */
  ignore(): void {
    for (const [name, listener] of this.listeners) process.off(name, listener);
  }
}
