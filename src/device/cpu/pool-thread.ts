import { startWorker } from "#engine";
import type { Post } from "./pool-control.js";

/** Milliseconds that the thread of a closed pool waits for another one. */
const SPARE_MS = 1000;

/** Threads of closed pools. An engine takes 20 ms to start one, and 0.1 to hand it a message. */
const spare: Thread[] = [];

/** Thread of a pool's worker. It keeps no process alive. */
export class Thread {
  private ended = (_reason: string): void => {};
  private heard = (): void => {};
  private expiry: ReturnType<typeof setTimeout> | undefined;
  private readonly worker = startWorker(
    () => this.heard(),
    (reason) => this.end(reason),
  );

  /** One that a closed pool has left, or a new one. */
  static take(): Thread {
    const left = spare.pop();
    clearTimeout(left?.expiry);
    return left ?? new Thread();
  }

  /**
   * Waits until it has taken its first message. `ended` is called with the reason if it ends by itself, then or later, `heard` at each of its
   * messages.
   */
  begin(first: Post, ended: (reason: string) => void, heard?: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.heard = () => {
        resolve();
        heard?.();
      };
      this.ended = (reason) => {
        ended(reason);
        reject(new Error(reason));
      };
      this.ref();
      this.post(first);
    });
  }

  /** Keeps the process alive until its next message. */
  ref(): void {
    this.worker.ref?.();
  }

  post(message: Post): void {
    this.worker.postMessage(message);
  }

  /** Leaves it, with nothing of its pool in it, to the next pool; it ends if there is none soon. */
  retire(): void {
    this.ended = () => {};
    this.heard = () => {};
    this.post({ retire: true, programs: [], buffers: [], released: [] });
    spare.push(this);
    this.expiry = setTimeout(() => void this.stop(), SPARE_MS);
    // In browsers it is a number.
    this.expiry.unref?.();
  }

  async stop(): Promise<void> {
    this.leave();
    await this.worker.terminate();
  }

  private end(reason: string): void {
    this.leave();
    this.ended(reason);
  }

  private leave(): void {
    const place = spare.indexOf(this);
    if (place >= 0) spare.splice(place, 1);
  }
}
