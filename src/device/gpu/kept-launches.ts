import { requireKernel } from "../launch/bind.js";
import type { Binding, BindArguments } from "../launch/binding.js";
import { KEPT_BYTES } from "../cpu/rerun.js";
import { findKnown, callNumbers, samePolicy } from "../launch/known-bindings.js";
import { isPlainCall, leavesAll } from "../launch/plain-calls.js";
import type { GpuLaunch } from "./launch.js";

/** Places of views for which a device keeps launches, and how many for each. */
const KEPT = { all: 32, alike: 8 };

/**
 * Launches of `run` on one GPU that have come to their end, by the place of their views: to prepare the next takes several times as long as to submit
 * it. They keep no memory alive, as a GPU's arrays live until they are freed.
 */
export class KeptLaunches {
  private readonly kept = new Map<object, GpuLaunch[]>();

  /** Takes a launch that this call can use, with its numbers. Undefined where there is none. Throws LaunchError as `bind` does. */
  take(call: BindArguments): GpuLaunch | undefined {
    requireKernel(call.device, call.kernel, call.args);
    const known = this.kept.size > 0 && isPlainCall(call) ? findKnown(call) : undefined;
    const alike = known && this.kept.get(known.place);
    if (!alike) return undefined;
    const { ir, sizes } = known.binding;
    const at = alike.findIndex(
      ({ binding }) => binding.ir === ir && samePolicy(binding.policy, call.policy) && binding.sizes() === sizes(),
    );
    if (at < 0) return undefined;
    const [launch] = alike.splice(at, 1);
    launch.setNumbers(callNumbers(known, call));
    return launch;
  }

  /** Takes a launch that can go over this binding's range with its numbers. Undefined where there is none. */
  moved(binding: Binding): GpuLaunch | undefined {
    const alike = binding.place && this.kept.get(binding.place);
    if (!alike || binding.call.device.tuning.measuring || !leavesAll(binding)) return undefined;
    const at = alike.findIndex((launch) => launch.moveTo(binding));
    return at < 0 ? undefined : alike.splice(at, 1)[0];
  }

  /** Frees a launch that has run to its end, or keeps it for the next. */
  keep(launch: GpuLaunch): void {
    const { place } = launch.binding;
    if (!place || !leavesAll(launch.binding) || launch.ownBytes > KEPT_BYTES) return launch.free();
    const alike = this.kept.get(place) ?? [];
    alike.unshift(launch);
    for (const old of alike.splice(KEPT.alike)) old.free();
    // Puts it last, as the one that was used last.
    this.kept.delete(place);
    this.kept.set(place, alike);
    if (this.kept.size > KEPT.all) this.drop(this.kept.keys().next().value!);
  }

  clear(): void {
    for (const place of this.kept.keys()) this.drop(place);
  }

  private drop(place: object): void {
    for (const launch of this.kept.get(place)!) launch.free();
    this.kept.delete(place);
  }
}
