import { checkNumbers, requireKernel } from "../launch/bind.js";
import type { BindArguments } from "../launch/binding.js";
import { KEPT_BYTES } from "../cpu/rerun.js";
import { findAlike, findKnown, callNumbers } from "../launch/known-bindings.js";
import { isPlainCall, leavesAll } from "../launch/plain-calls.js";
import type { DeviceLaunch } from "./device-launch.js";

type Own = DeviceLaunch<{ readonly name: string }>;

/** Places of views for which a device keeps launches, and how many for each. */
const KEPT = { all: 32, alike: 8 };

/**
 * Launches of `run` on one GPU that have come to their end, by the place of their views: to prepare the next takes several times as long as to submit
 * it. They keep no memory alive, as a GPU's arrays live until they are freed.
 */
export class KeptLaunches {
  private readonly kept = new Map<object, Own[]>();

  /** Takes a launch over the same views, with this call's range and numbers. Undefined where there is none. Throws LaunchError as `bind` does. */
  take(call: BindArguments): Own | undefined {
    requireKernel(call.device, call.kernel, call.args);
    if (this.kept.size === 0 || !isPlainCall(call)) return undefined;
    const known = findKnown(call);
    const found = known ?? findAlike(call);
    const alike = found && this.kept.get(found.place);
    if (!alike) return undefined;
    const numbers = known ? { ...callNumbers(known, call), sizes: known.binding.sizes } : checkNumbers(call, found);
    if (!numbers) return undefined;
    const fits = alike.filter(({ binding }) => binding.ir === found.binding.ir);
    const same = fits.find((launch) => launch.differsInFloats(numbers));
    same?.setFloats(numbers);
    const one = same ?? fits.find((launch) => launch.moveTo(call, numbers, found.compiled.strict.ir));
    return one && alike.splice(alike.indexOf(one), 1)[0];
  }

  /** Frees a launch that has run to its end, or keeps it for the next. */
  keep(launch: Own): void {
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
