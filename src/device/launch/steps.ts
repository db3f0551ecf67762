import type { DeviceEvent, Queue } from "../device.js";

type Marks = Map<DeviceEvent, DeviceEvent>;

/** Work that queues were given during a capture, so that it can be submitted without the graph. */
export class CapturedSteps {
  private readonly steps: { readonly queue: Queue; readonly run: (queue: Queue, marks: Marks) => void }[] = [];

  /** The queues of the capture. */
  constructor(
    private readonly origin: Queue,
    private readonly others: readonly Queue[],
  ) {}

  note(queue: Queue, run: (queue: Queue) => void): void {
    this.steps.push({ queue, run });
  }

  noteRecord(queue: Queue, event: DeviceEvent): void {
    this.steps.push({ queue, run: (on, marks) => void marks.set(event, on.record()) });
  }

  noteWait(queue: Queue, event: DeviceEvent): void {
    this.steps.push({ queue, run: (on, marks) => on.wait(marks.get(event) ?? event) });
  }

  /** Submits it all to `queue` in place of the one that captured it, and to the others, which begin and end with it. */
  run(queue: Queue): void {
    const marks: Marks = new Map();
    if (this.others.length > 0) {
      const start = queue.record();
      for (const other of this.others) other.wait(start);
    }
    for (const step of this.steps) step.run(step.queue === this.origin ? queue : step.queue, marks);
    for (const other of this.others) queue.wait(other.record());
  }
}
