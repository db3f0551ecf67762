import { describe } from "../../base/describe.js";
import { LaunchError } from "../../base/errors.js";
import { flatValues } from "../../kernel/declare/flat.js";
import type { Params } from "../../kernel/declare/params.js";
import type { Launch } from "../device.js";
import type { BindArguments } from "./binding.js";
import type { Policy } from "./policy.js";

/** Values of scalar parameters, by name: numbers, truth values, vectors and the like, records. */
export type ScalarValues = Readonly<Record<string, number | bigint | boolean | object>>;

/** The call with other scalars and over another range. Throws LaunchError for names of other parameters; values are checked when it is bound. */
export function withNumbers(call: BindArguments, scalars: ScalarValues = {}, policy: Policy = call.policy): BindArguments {
  const { kernel, args, device } = call;
  const fail = (problem: string): never => {
    throw new LaunchError(`a launch of kernel "${kernel.name}" on ${device.name} is submitted again: ${problem}`);
  };
  if (typeof scalars !== "object" || !scalars) fail(`it is given ${describe(scalars)} for its scalars; give them by name, { a }`);
  const given = flatValues(kernel, scalars);
  for (const name of Object.keys(given)) {
    const token = Object.hasOwn(kernel.params, name) ? kernel.params[name] : undefined;
    if (typeof token !== "object" || (token.kind !== "scalar" && token.kind !== "fixed"))
      fail(`"${name}" is not a scalar of it, and only scalars and the range can be other ones; prepare a launch for other views`);
  }
  return { ...call, args: { ...args, ...given }, policy };
}

/** The error of a launch that would have to be prepared during a capture. */
export const notInCapture = ({ kernel }: BindArguments): LaunchError =>
  new LaunchError(
    `a launch of kernel "${kernel.name}" with other numbers cannot be captured; prepare a launch for them before the capture`,
  );

/** A launch with others that were submitted in its place. */
export interface Resubmitted {
  readonly others?: Pick<OtherNumbers, "last">;
}

/** Launches that one keeps for numbers other than its own. */
const KEPT = 16;

/** For `Launch.submit`: launches that differ from a prepared one in scalars and range alone. */
export class OtherNumbers {
  /** Submitted last in place of the launch, whose results are this one's then. */
  last: Launch | undefined;
  private readonly kept = new Map<string, Launch>();

  constructor(
    private readonly launch: Launch & { requireReady?(): void },
    private readonly call: BindArguments,
  ) {}

  /** Submits the launch, or its like with these numbers, to the device's default queue. Throws LaunchError. */
  submit(scalars?: ScalarValues, policy?: Policy): void {
    const { device } = this.call;
    this.launch.requireReady?.();
    if (!scalars && !policy) return device.queue.submit(this.launch);
    const call = withNumbers(this.call, scalars, policy);
    if ((device.queue as { readonly capturing?: boolean }).capturing) throw notInCapture(call);
    const numbers = Object.entries(call.args).filter((each): each is [string, number | bigint | boolean] => typeof each[1] !== "object");
    const key = JSON.stringify([numbers.map(([name, value]) => [name, exact(value)]), call.policy]);
    const other = this.kept.get(key) ?? device.prepare<Params>(call.kernel, call.args, call.policy, call.options);
    // Puts it last, as the one that was used last.
    this.kept.delete(key);
    this.kept.set(key, other);
    device.queue.submit(other);
    this.last = other;
    if (this.kept.size > KEPT) this.drop(this.kept.keys().next().value!);
  }

  free(): void {
    this.last = undefined;
    for (const key of this.kept.keys()) this.drop(key);
  }

  /** Frees the oldest once it has run. */
  private drop(key: string): void {
    const other = this.kept.get(key)!;
    this.kept.delete(key);
    const free = (): void => other.free();
    try {
      void this.call.device.queue.record().done().then(free, free);
    } catch {
      // Its device is closed, and nothing runs there any more.
      free();
    }
  }
}

/** JSON has neither -0 nor NaN nor infinities. */
const exact = (value: number | bigint | boolean): string | boolean =>
  typeof value === "boolean" ? value : Object.is(value, -0) ? "-0" : String(value);
