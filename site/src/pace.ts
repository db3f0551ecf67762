/** Milliseconds of a frame that steps may take, of the 16.7 between two frames. */
const BUDGET = 12;
const MOST = 32;

/** Steps of a frame, so many that frames come 60 times a second, and their measured rates. */
export class Pace {
  steps = 1;
  private frames = 0;
  private made = 0;
  private since = performance.now();

  /** `cells` of a step, where it is made of them. */
  constructor(private readonly cells: number | undefined) {}

  /** To be told how many milliseconds a frame has taken, and its steps. */
  note(milliseconds: number, made: number): void {
    if (made === this.steps) this.adapt(milliseconds);
    this.made += made;
    this.frames++;
  }

  private adapt(milliseconds: number): void {
    if (milliseconds < 0.6 * BUDGET && this.steps < MOST) this.steps++;
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
