import type { Interruption } from "../portability/application.js";

/** What ends a command from outside: Ctrl-C, and the end of a batch job's time. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143 } as const;

/** Notes the first signal, for the work to end in order; a second one ends the process as ever. */
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
        this.ignore();
        controller.abort();
      };
      process.on(name, listener);
      return [name, listener];
    });
  }

  /** The exit code of what the signal has ended, as shells count. */
  get exitCode(): number {
    return this.signal === undefined ? 0 : SIGNALS[this.signal];
  }

  /** Signals do what they would do without this. */
  ignore(): void {
    for (const [name, listener] of this.listeners) process.off(name, listener);
  }
}
