import type { Policy } from "../../ir/launch.js";
import { checkNumbers, requireKernel } from "../launch/bind.js";
import type { Binding, BindArguments } from "../launch/binding.js";
import { findAlike, findKnown, callNumbers, samePolicy } from "../launch/known-bindings.js";
import { isPlainCall, leavesAll } from "../launch/plain-calls.js";
import { tools } from "../tools/tools.js";
import { noteArguments, writtenArguments } from "../launch/written.js";
import { withInitialValues } from "../launch/initial-values.js";
import { backlog, type WorkSteps } from "./backlog.js";
import { Lasted } from "./lasted.js";
import type { CpuLaunch } from "./launch.js";
import type { Rerun } from "./rerun.js";
import { stepsOf } from "./runnable.js";
import { elementCount } from "./work-like.js";
import { cpuStorage, type CpuBuffer } from "./storage.js";

/*
 * A launch of `run` is needed once, and to prepare it takes several times as long as a small kernel runs. So its code, its arguments in memory and
 * its temporary memory are kept for the next one over the same views.
 */

interface Kept {
  readonly ir: Binding["ir"];
  /** Range of code that is for no other. */
  readonly policy: Policy | undefined;
  readonly rerun: Rerun;
  /** Names of the arguments that it writes. */
  readonly written: readonly string[];
  /** By the elements of a run. */
  readonly lasted: Lasted;
}

/** A run that was begun. */
class Begun {
  /** Set once it has run. */
  results: Record<string, number> | undefined;
  /** Ends the run, if that is long. */
  signal: AbortSignal | undefined;

  constructor(
    private readonly kept: Kept,
    private readonly initial: Binding["initial"],
    private readonly size: number,
  ) {}

  get isLong(): boolean {
    return this.kept.lasted.isLong(this.size) && this.kept.rerun.aside !== undefined;
  }

  run(): void {
    const { rerun, lasted } = this.kept;
    const start = lasted.isDue(this.size) ? performance.now() : undefined;
    rerun.now();
    this.end(start, rerun.end());
  }

  *steps(): WorkSteps {
    const start = performance.now();
    this.end(start, yield* stepsOf(this.kept.rerun, this.kept.lasted.expected(this.size), this.signal));
  }

  private end(start: number | undefined, results: Record<string, number>): void {
    if (start !== undefined) this.kept.lasted.note(performance.now() - start, this.size);
    this.results = withInitialValues({ ir: this.kept.ir, initial: this.initial }, { ...results });
  }
}

const freeOne = ({ rerun }: Kept): void => backlog.whenIdle(() => rerun.free());

/** Launches kept for a device, and of them over the same views. */
const KEPT = { all: 64, alike: 8 };

/** Launches of one device that have run, by the place of their views. */
export class Reruns {
  private readonly kept = new Map<object, Kept[]>();
  private memory: object | undefined;

  /** The run of a launch whose like has run before, begun; undefined where it has to be prepared. Throws LaunchError as `prepare` does. */
  begin(call: BindArguments): Begun | undefined {
    requireKernel(call.device, call.kernel, call.args);
    // Tools are told of launches that are submitted.
    if (this.kept.size === 0 || tools.size > 0 || !isPlainCall(call)) return undefined;
    if (this.memory !== cpuStorage().place) {
      this.clear();
      return undefined;
    }
    const known = findKnown(call);
    const found = known ?? findAlike(call);
    if (!found) return undefined;
    const fit = (k: Kept): boolean => k.ir === found.binding.ir && (!k.policy || samePolicy(k.policy, call.policy));
    const kept = this.kept.get(found.place)?.filter(fit);
    if (!kept?.length) return undefined;
    const checked = known ? { ...callNumbers(known, call), sizes: known.binding.sizes } : checkNumbers(call, found);
    if (!checked) return undefined;
    const numbers = { ...checked, policy: call.policy };
    const one = kept.find(({ rerun }) => rerun.begin(numbers));
    if (!one) return undefined;
    noteArguments(one.written, call.args);
    return new Begun(one, checked.initial, elementCount(call.policy));
  }

  /** Frees a launch that has run, or keeps what the next can use. */
  keep(launch: CpuLaunch): void {
    const { ir, policy, place, views } = launch.binding;
    const keeps = place && leavesAll(launch.binding) && Object.values(views).every(({ buffer }) => (buffer as CpuBuffer).inWasmMemory);
    // Work that is under way may use what a launch would leave.
    const rerun = keeps && !backlog.busy ? launch.handOver() : undefined;
    if (!rerun || !place) return launch.free();
    const each = launch.lasted.expected() / Math.max(1, elementCount(policy));
    if (this.memory !== cpuStorage().place) this.clear();
    this.memory = cpuStorage().place;
    this.put(place, {
      ir,
      policy: rerun.anyRange ? undefined : policy,
      rerun,
      written: writtenArguments(launch.binding),
      lasted: new Lasted(() => each),
    });
  }

  private put(place: object, kept: Kept): void {
    const alike = this.kept.get(place) ?? [];
    alike.unshift(kept);
    alike.splice(KEPT.alike).forEach(freeOne);
    // Puts it last, as the one that was used last.
    this.kept.delete(place);
    this.kept.set(place, alike);
    if (this.kept.size > KEPT.all) this.drop(this.kept.keys().next().value!);
  }

  private drop(place: object): void {
    this.kept.get(place)!.forEach(freeOne);
    this.kept.delete(place);
  }

  clear(): void {
    for (const place of this.kept.keys()) this.drop(place);
  }
}
