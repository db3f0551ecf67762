import type { Walk } from "../device/device.js";
import type { Container } from "./container.js";
import type { PrepareOptions } from "./grid.js";

/** What the launches of a container are told of the caches. */
export function walkOf({ uses }: Container, { backward = false, passing }: PrepareOptions): Walk | undefined {
  const params = uses.filter(({ field }) => passing?.has(field)).map(({ param }) => param);
  return backward || params.length > 0 ? { backward, passing: params } : undefined;
}
