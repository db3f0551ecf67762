import type { Aside } from "./backlog.js";

/*
 * Code that a compiler makes in another process, while the calling thread goes on: `run` takes its place in the backlog and is prepared once more when the
 * code is there. `prepare` returns a launch, and waits.
 */

/** Thrown for a launch whose code is being compiled, where `mayCompileAside` is true. */
export class StillCompiling extends Error {
  constructor(readonly compile: Aside) {
    super("the code of a kernel is still being compiled");
  }
}

/** Who is told of `StillCompiling`: nobody, the caller of `prepare`, or launches, which then wait for their code together. */
let told: "nobody" | "caller" | "launches" = "nobody";
let waiting: (() => void)[] = [];

/** True where a launch may throw `StillCompiling`. */
export const mayCompileAside = (): boolean => told !== "nobody";

function telling<T>(whom: typeof told, make: () => T): T {
  const outer = told;
  told = whom;
  try {
    return make();
  } finally {
    told = outer;
  }
}

/** The launch that `prepare` makes, or the compile that it has to wait for. */
export function aheadOf<T>(prepare: () => T): T | StillCompiling {
  try {
    return telling("caller", prepare);
  } catch (error) {
    if (error instanceof StillCompiling) return error;
    throw error;
  }
}

/** Builds, or gives undefined where the code is being compiled together with others; then `settle` is called once that is done, if at all. */
export function builtOrLater<T>(build: () => T, settle: () => void): T | undefined {
  try {
    return build();
  } catch (error) {
    if (told !== "launches" || !(error instanceof StillCompiling)) throw error;
    waiting.push(settle);
    return undefined;
  }
}

/** Calls `prepare`; with the calls by which its launches take the code that is being compiled. */
function startingCompiles<T>(prepare: () => T): { made: T; settles: readonly (() => void)[] } {
  const outer = waiting;
  waiting = [];
  try {
    return { made: telling("launches", prepare), settles: waiting };
  } finally {
    waiting = outer;
  }
}

/** Prepares launches, for all of which compilers work at once, and waits for these. */
export function prepareTogether<T>(prepare: () => T): T {
  const { made, settles } = startingCompiles(prepare);
  for (const settle of settles) settle();
  return made;
}

/** Starts the compiles of launches that `prepare` makes, and does not wait for them. */
export const startTogether = <T>(prepare: () => T): T => startingCompiles(prepare).made;
