import type { Launch, Queue } from "../device.js";
import type { BindArguments } from "./binding.js";
import { isChecked, isDeterministic, samePolicy } from "./known-bindings.js";
import type { ListLaunch } from "./list-launch.js";
import { isPlainCall } from "./plain-calls.js";

/** Launches that are kept at most. */
const KEPT = 8;

interface Kept extends Pick<BindArguments, "kernel" | "args" | "policy"> {
  readonly how: string;
  readonly launch: ListLaunch;
}

/** Launches of kernels with lists that `run` has prepared on a device, kept for the next call with the same arguments. */
export class ListRuns {
  private readonly kept: Kept[] = [];
  private closed = false;

  /** Submits the launch of a call, and waits for its results. */
  async run(
    queue: Queue & { submitAlone(launch: Launch): void },
    call: BindArguments,
    prepare: () => ListLaunch,
  ): Promise<Record<string, unknown>> {
    const { kernel, policy } = call;
    const args = { ...call.args };
    const how = isPlainCall(call) ? howOf(call) : undefined;
    const found = how === undefined ? -1 : this.kept.findIndex((kept) => kept.how === how && isSame(kept, call));
    const launch = found < 0 ? prepare() : this.kept.splice(found, 1)[0].launch;
    let done = false;
    try {
      queue.submitAlone(launch);
      const results = await queue.results(launch);
      done = true;
      return results;
    } finally {
      if (!done || how === undefined || this.closed) launch.free();
      else this.keep({ kernel, args, policy, how, launch });
    }
  }

  private keep(kept: Kept): void {
    this.kept.unshift(kept);
    for (const { launch } of this.kept.splice(KEPT)) launch.free();
  }

  clear(): void {
    this.closed = true;
    for (const { launch } of this.kept.splice(0)) launch.free();
  }
}

const howOf = (call: BindArguments): string =>
  JSON.stringify([call.options.precision ?? call.device.precision, isChecked(call), isDeterministic(call.device, call.options)]);

function isSame(kept: Kept, { kernel, args, policy }: BindArguments): boolean {
  const names = Object.keys(args);
  return (
    kept.kernel === kernel &&
    policy !== undefined &&
    samePolicy(kept.policy, policy) &&
    names.length === Object.keys(kept.args).length &&
    names.every((name) => Object.hasOwn(kept.args, name) && Object.is(kept.args[name], args[name]))
  );
}
