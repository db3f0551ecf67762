import { withInitialValues } from "../launch/initial-values.js";
import type { Aside, WorkSteps, QueuedWork } from "./backlog.js";
import type { CpuLaunch } from "./launch.js";

/*
 * Code that a compiler makes in another process, while the calling thread goes on: `run` takes its place in the backlog and is prepared once more when the
 * code is there. `prepare` returns a launch, and waits.
 */

/** Thrown inside `compilingAside` for a launch whose code is being compiled. */
export class StillCompiling extends Error {
  constructor(readonly compile: Aside) {
    super("the code of a kernel is still being compiled");
  }
}

let allowed = false;

/** True where a launch may throw `StillCompiling`. */
export const mayCompileAside = (): boolean => allowed;

/** Calls `make`, which may throw `StillCompiling`. */
export function compilingAside<T>(make: () => T): T {
  allowed = true;
  try {
    return make();
  } finally {
    allowed = false;
  }
}

/** A run whose code is being compiled. */
export class FirstRun implements QueuedWork {
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

  *steps(): WorkSteps {
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
