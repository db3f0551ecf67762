/** Milliseconds of a frame that steps may take, of the 16.7 between two frames. */
const BUDGET = 12;
const MOST = 32;

/** Steps of a frame, so many that frames come 60 times a second, and their measured rates. */
export class Pace {
  steps = 1;
  private frames = 0;
  private since = performance.now();

  constructor(private readonly cells: number) {}

  /** To be told how many milliseconds the steps of a frame have taken. */
  note(milliseconds: number): void {
    if (milliseconds < 0.6 * BUDGET && this.steps < MOST) this.steps++;
    else if (milliseconds > BUDGET && this.steps > 1) this.steps = Math.max(1, Math.floor((this.steps * BUDGET) / milliseconds));
    this.frames++;
  }

  /** The rates, twice a second; else undefined. */
  rates(): string | undefined {
    const seconds = (performance.now() - this.since) / 1000;
    if (seconds < 0.5) return undefined;
    const frames = this.frames / seconds;
    [this.frames, this.since] = [0, performance.now()];
    const cells = (frames * this.steps * this.cells) / 1e6;
    return `${frames.toFixed(0)} frames/s, ${this.steps} ${this.steps === 1 ? "step" : "steps"} each, ${cells.toPrecision(3)} million cells/s`;
  }
}
