import { streamedViews, type OpenMPOptions } from "../../emit/c/openmp.js";
import { addressOf, spanOf } from "../cpu/host-view.js";
import type { Binding } from "../launch/binding.js";
import { BYTES, type View } from "../memory/view.js";
import { lastLevelCache } from "./cache-size.js";

/* Stores past the caches, for what would not be found there afterwards. */

/** The code of a launch stores past the caches. */
export const streamsStores = (binding: Binding, options: OpenMPOptions): boolean =>
  streamingReason(binding).use && linesAgree(binding.views, streamedViews(binding.ir, binding.access, options));

/** How stores go to the views that could be stored past the caches. */
export function storesRemark(binding: Binding, streamed: readonly string[]): string[] {
  if (streamed.length === 0) return [];
  const { use, text } = streamingReason(binding);
  const apart = use && !linesAgree(binding.views, streamed);
  const how = apart ? "through the caches, their rows begin at different places in a cache line" : text;
  return [`stores to ${streamed.map((v) => `"${v}"`).join(", ")}: ${how}`];
}

/**
 * Whether written lines should bypass the caches, if they can: they do where nothing of them would be left there for the next kernel.
 * ISOFORM_STREAMING=always or never overrides the sizes.
 */
function streamingReason({ views, tuning }: Binding): { use: boolean; text: string } {
  const wish = process.env.ISOFORM_STREAMING;
  const asked = tuning.values.stores;
  if (wish === "never") return { use: false, text: "through the caches, as ISOFORM_STREAMING asks" };
  if (asked) return { use: asked === "non-temporal", text: asked === "cached" ? "through the caches, as asked" : "non-temporal, as asked" };
  if (wish === "always") return { use: true, text: "non-temporal, as ISOFORM_STREAMING asks" };
  const bytes = Object.values(views).reduce((sum, view) => sum + spanOf(view) * BYTES[view.type], 0);
  const cache = lastLevelCache();
  const mib = (n: number) => `${(n / (1 << 20)).toFixed(0)} MiB`;
  return bytes > cache
    ? { use: true, text: `non-temporal, the views' ${mib(bytes)} exceed the cache of ${mib(cache)}` }
    : { use: false, text: `through the caches, the views' ${mib(bytes)} fit into ${mib(cache)}` };
}

/** The views' rows begin at the same place in a cache line. */
export const linesAgree = (views: Binding["views"], streamed: readonly string[]): boolean =>
  new Set(streamed.flatMap((name) => elementOffsets(views[name], streamed.length > 1))).size <= 1;

/** Positions in a cache line at which the rows of a view begin, as far as they matter. */
function elementOffsets(view: View, together: boolean): number[] {
  const element = BYTES[view.type];
  const start = addressOf(view) % 64;
  if (start % element !== 0) return [-1, -2];
  if (!together) return [0];
  return [start, ...view.strides.filter((stride) => stride !== 1).map((stride) => (start + stride * element) % 64)];
}
