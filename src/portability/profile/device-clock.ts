import type { DeviceEvent, Queue } from "../../device/device.js";

/** Samples of one device that are read out together, while the program goes on. */
const BATCH = 64;

interface Sample {
  readonly begin: DeviceEvent;
  readonly end: DeviceEvent;
  /** Given seconds since the start of the profile, and the length. */
  readonly take: (begin: number, seconds: number) => void;
}

/**
 * Times of one device's events on the program's clock. Each is counted from the one before, which loses less than a long way from the
 * start does: drivers tell milliseconds in f32.
 */
export class DeviceClock {
  private last: DeviceEvent;
  private samples: Sample[] = [];
  private readout: Promise<void> = Promise.resolve();

  /** `now`: seconds since the start of the profile. */
  constructor(
    queue: Queue,
    private now: number,
  ) {
    this.last = queue.record();
  }

  add(sample: Sample): void {
    this.samples.push(sample);
    if (this.samples.length >= BATCH) this.read();
  }

  /** Waits for the samples so far, and not for what the queues were given after them. */
  async drain(): Promise<void> {
    this.read();
    await this.readout;
  }

  private read(): void {
    const { samples } = this;
    this.samples = [];
    this.readout = this.readout.then(async () => {
      for (const { begin, end, take } of samples) {
        this.now += await begin.since(this.last);
        this.last = begin;
        take(this.now, await end.since(begin));
      }
    });
    // Whoever waits for `drain` is notified.
    this.readout.catch(() => {});
  }
}
