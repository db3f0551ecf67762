import { later } from "../../device/cpu/turns.js";
import type { DeviceEvent, Queue } from "../../device/device.js";

/** Seconds after which others get their turn on the host's event loop: signals, timers, progress. */
const TURN = 0.05;
/** Submissions that may wait in a queue. */
const AHEAD = 256;

/** Keeps a loop that submits work from holding the event loop, and from running too far ahead of the device. */
export class SubmitPace {
  private last = performance.now();
  private submitted = 0;
  private mark: DeviceEvent | undefined;

  constructor(private readonly queue: Queue) {}

  /** To be asked once after each submission: true where it is time to `rest`. */
  due(): boolean {
    return ++this.submitted >= AHEAD || performance.now() - this.last > TURN * 1000;
  }

  /** Waits for what was submitted before the last rest, while the device goes on with the rest. */
  async rest(): Promise<void> {
    const previous = this.mark;
    this.mark = this.queue.record();
    await previous?.done();
    await new Promise<void>((resolve) => later(() => resolve()));
    this.submitted = 0;
    this.last = performance.now();
  }
}
