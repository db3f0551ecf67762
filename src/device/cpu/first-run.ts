import { withInitialValues } from "../launch/initial-values.js";
import type { Aside, WorkSteps, QueuedWork } from "./backlog.js";
import type { CpuLaunch } from "./launch.js";

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
