import type { Policy } from "../../ir/launch.js";
import { checkNumbers, requireKernel } from "../launch/bind.js";
import type { Binding, Call } from "../launch/binding.js";
import { findAlike, findKnown, numbersOf, samePolicy } from "../launch/known-bindings.js";
import { isPlain, leavesAll } from "../launch/plain-calls.js";
import { tools } from "../tools/tools.js";
import { withInitialValues } from "../launch/initial-values.js";
import type { CpuLaunch } from "./launch.js";
import type { Rerun } from "./rerun.js";
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
}

/** Launches kept for a device, and of them over the same views. */
const KEPT = { all: 64, alike: 8 };

/** Launches of one device that have run, by the place of their views. */
export class Reruns {
  private readonly kept = new Map<object, Kept[]>();
  private memory: object | undefined;

  /** Results of a launch whose like has run before; undefined where it has to be prepared. Throws LaunchError as `prepare` does. */
  run(call: Call): Record<string, number> | undefined {
    requireKernel(call.device, call.kernel, call.args);
    // Tools are told of launches that are submitted.
    if (this.kept.size === 0 || tools.size > 0 || !isPlain(call)) return undefined;
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
    const checked = known ? { ...numbersOf(known, call), sizes: known.binding.sizes } : checkNumbers(call, found);
    if (!checked) return undefined;
    const numbers = { ...checked, policy: call.policy };
    for (const { ir, rerun } of kept) {
      const results = rerun.run(numbers);
      if (results) return withInitialValues({ ir, initial: checked.initial }, { ...results });
    }
    return undefined;
  }

  /** Frees a launch that has run, or keeps what the next can use. */
  keep(launch: CpuLaunch): void {
    const { ir, policy, place, views } = launch.binding;
    const keeps = place && leavesAll(launch.binding) && Object.values(views).every(({ buffer }) => (buffer as CpuBuffer).inWasmMemory);
    const rerun = keeps ? launch.handOver() : undefined;
    if (!rerun || !place) return launch.free();
    if (this.memory !== cpuStorage().place) this.clear();
    this.memory = cpuStorage().place;
    this.put(place, { ir, policy: rerun.anyRange ? undefined : policy, rerun });
  }

  private put(place: object, kept: Kept): void {
    const alike = this.kept.get(place) ?? [];
    alike.unshift(kept);
    for (const { rerun } of alike.splice(KEPT.alike)) rerun.free();
    // Puts it last, as the one that was used last.
    this.kept.delete(place);
    this.kept.set(place, alike);
    if (this.kept.size > KEPT.all) this.drop(this.kept.keys().next().value!);
  }

  private drop(place: object): void {
    for (const { rerun } of this.kept.get(place)!) rerun.free();
    this.kept.delete(place);
  }

  clear(): void {
    for (const place of this.kept.keys()) this.drop(place);
  }
}
