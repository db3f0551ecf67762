/** Milliseconds of a frame that steps may take, of the 16.7 between two frames. */
const BUDGET = 12;
const MOST = 32;
/** How much of a mean a new value makes. */
const NEWS = 0.05;

/** Steps of a frame, so many that frames come 60 times a second, and measured rates. */
export class Pace {
  steps = 1;
  /** Milliseconds in which a frame is handed over to the device, on the average of late. */
  submission = 0;
  private frames = 0;
  private made = 0;
  private since = performance.now();
  /** When the frame before was done. */
  private free = 0;

  /** `cells` of a step, where it is made of them; `most` steps of a frame. */
  constructor(
    private readonly cells: number | undefined,
    private readonly most = MOST,
  ) {}

  noteSubmission(milliseconds: number): void {
    this.submission += NEWS * (milliseconds - this.submission);
  }

  /** To be told when a frame is done, with its steps and when it was submitted; until the frame before was done, the device was at that one. */
  note(submitted: number, made: number): void {
    const now = performance.now();
    if (made === this.steps) this.adapt(now - Math.max(submitted, this.free));
    this.free = now;
    this.made += made;
    this.frames++;
  }

  private adapt(milliseconds: number): void {
    if (milliseconds < 0.6 * BUDGET && this.steps < this.most) this.steps++;
    else if (milliseconds > BUDGET && this.steps > 1) this.steps = Math.max(1, Math.floor((this.steps * BUDGET) / milliseconds));
  }

  /** The rates, twice a second; else undefined. */
  rates(): string | undefined {
    const seconds = (performance.now() - this.since) / 1000;
    if (seconds < 0.5) return undefined;
    const [frames, steps] = [this.frames / seconds, this.made / seconds];
    [this.frames, this.made, this.since] = [0, 0, performance.now()];
    const cells = this.cells === undefined ? "" : `, ${((steps * this.cells) / 1e6).toPrecision(3)} million cells/s`;
    return `${frames.toFixed(0)} frames/s, ${steps.toFixed(0)} steps/s${cells}`;
  }
}
