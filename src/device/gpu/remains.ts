import { KEPT_BYTES } from "../cpu/rerun.js";
import type { Binding } from "../launch/binding.js";
import { samePolicy } from "../launch/known-bindings.js";
import { leavesAll } from "../launch/plain-calls.js";
import { freeRemains, GpuLaunch, type Remains } from "./launch.js";

/** Places of views for which a device keeps what launches have left, and how much for each. */
const KEPT = { all: 32, alike: 8 };

/** Remains of launches of `run` on one GPU, by the place of their views: to prepare the next takes several times as long as to submit it. */
export class KeptRemains {
  private readonly kept = new Map<object, Remains[]>();

  /** Takes remains that a launch can use. Undefined where there are none. */
  take(binding: Binding): Remains | undefined {
    const alike = binding.place && leavesAll(binding) ? this.kept.get(binding.place) : undefined;
    if (!alike) return undefined;
    const at = alike.findIndex(
      ({ ir, policy, sizes }) => ir === binding.ir && samePolicy(policy, binding.policy) && sizes === binding.sizes(),
    );
    return at < 0 ? undefined : alike.splice(at, 1)[0];
  }

  /** Frees a launch that has run to its end, or keeps what the next can use. */
  keep(launch: GpuLaunch): void {
    const { place } = launch.binding;
    const remains = place && leavesAll(launch.binding) && launch.ownBytes <= KEPT_BYTES ? launch.handOver() : undefined;
    if (!place || !remains) return launch.free();
    const alike = this.kept.get(place) ?? [];
    alike.unshift(remains);
    alike.splice(KEPT.alike).forEach(freeRemains);
    // Puts it last, as the one that was used last.
    this.kept.delete(place);
    this.kept.set(place, alike);
    if (this.kept.size > KEPT.all) this.drop(this.kept.keys().next().value!);
  }

  clear(): void {
    for (const place of this.kept.keys()) this.drop(place);
  }

  private drop(place: object): void {
    this.kept.get(place)!.forEach(freeRemains);
    this.kept.delete(place);
  }
}
