/** Lets a loop of somebody else run for some turns at a time. */
export class Turnstile {
  private left = 0;
  private resume: (() => void) | undefined;
  private stopped: (() => void) | undefined;

  /** For the loop, which waits for it at the end of each turn. */
  pass(): Promise<void> | undefined {
    if (--this.left > 0) return undefined;
    return new Promise((resume) => {
      this.resume = resume;
      this.stopped?.();
    });
  }

  /** Lets `turns` turns pass, at least one; resolves when they have. */
  admit(turns: number): Promise<void> {
    this.left = turns;
    return new Promise((stopped) => {
      this.stopped = stopped;
      this.resume?.();
    });
  }
}
