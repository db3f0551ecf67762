import type { Reply, Request } from "./messages.js";

/** A worker for modules of the visitor. One that takes too long is ended, and another takes its place. */
export class Workshop {
  private worker: Worker | undefined;
  private end: ((problem: string) => void) | undefined;

  /** Seconds that a request may take. */
  constructor(private readonly limit: number) {}

  /** One request at a time: a new one ends that before. */
  ask(request: Request): Promise<Reply> {
    this.stop("overtaken by another request");
    const worker = (this.worker ??= new Worker(new URL("./worker.ts", import.meta.url), { type: "module", name: "playground" }));
    return new Promise((resolve) => {
      const timer = setTimeout(
        () => this.stop(`it took more than ${this.limit} s and was stopped: does a loop never end?`),
        this.limit * 1000,
      );
      const settle = (reply: Reply): void => {
        clearTimeout(timer);
        this.end = undefined;
        resolve(reply);
      };
      worker.onmessage = ({ data }: MessageEvent<Reply>) => settle(data);
      worker.onerror = ({ message }) => this.stop(message || "the worker could not be loaded");
      this.end = (message) => {
        worker.terminate();
        this.worker = undefined;
        settle({ problems: [{ message }] });
      };
      worker.postMessage(request);
    });
  }

  /** Ends the request under way, if there is one; its answer is `problem`. */
  stop(problem: string): void {
    this.end?.(problem);
  }

  close(): void {
    this.stop("the playground was closed");
    this.worker?.terminate();
    this.worker = undefined;
  }
}
