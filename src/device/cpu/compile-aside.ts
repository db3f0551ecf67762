import { withInitialValues } from "../launch/initial-values.js";
import type { Aside, Steps, Work } from "./backlog.js";
import type { CpuLaunch } from "./launch.js";

/*
 * Code that a compiler makes in another process, while the calling thread goes on: `run` takes its place in the backlog and is prepared once more when the
 * code is there. `prepare` returns a launch, and waits.
 */

/** Thrown inside `aheadOf` for a launch whose code is being compiled. */
export class StillCompiling extends Error {
  constructor(readonly compile: Aside) {
    super("the code of a kernel is still being compiled");
  }
}

/** Launches that were made since `aheadOf` began; undefined outside of it. */
let made: { free(): void }[] | undefined;

/** True where a launch may throw `StillCompiling`. */
export const mayCompileAside = (): boolean => made !== undefined;

/** Takes note of a launch that was made: where another one of the same call has to wait, it is made anew, too. */
export const noteMade = (launch: { free(): void }): void => void made?.push(launch);

/** The launch or launches that `prepare` makes, or the compile that it has to wait for; then nothing is left of it. */
export function aheadOf<T>(prepare: () => T): T | StillCompiling {
  const own: { free(): void }[] = (made = []);
  try {
    return prepare();
  } catch (error) {
    if (!(error instanceof StillCompiling)) throw error;
    for (const launch of own) launch.free();
    return error;
  } finally {
    made = undefined;
  }
}

/** Prepares launches, whose compiles run side by side. If one fails, the others are freed. */
export function prepareTogether<T>(prepare: readonly (() => T)[], free: (made: T) => void): T[] {
  const made: (T | StillCompiling)[] = [];
  try {
    for (const one of prepare) made.push(aheadOf(one));
    return made.map((launch, n) => (launch instanceof StillCompiling ? ((made[n] = prepare[n]()) as T) : launch));
  } catch (error) {
    for (const launch of made) if (!(launch instanceof StillCompiling)) free(launch);
    throw error;
  }
}

/** A run whose code is being compiled. */
export class FirstRun implements Work {
  readonly isLong = true;
  launch: CpuLaunch | undefined;

  /** @param make prepares the launch */
  constructor(
    private readonly compile: Aside,
    private readonly make: () => CpuLaunch,
  ) {}

  run(): void {
    for (const aside of this.steps()) aside?.wait();
  }

  *steps(): Steps {
    yield this.compile;
    this.compile.check();
    this.launch = this.make();
    yield* this.launch.steps();
  }

  /** Once it has run. */
  get results(): Record<string, number> {
    const { binding, results } = this.launch!;
    return withInitialValues(binding, { ...results });
  }
}
