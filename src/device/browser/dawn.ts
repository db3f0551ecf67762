import type { Loaded } from "../webgpu/dawn.js";

/* Implementation of `#dawn` in a browser. */

/** There is nothing to load. */
export async function loadDawn(): Promise<Loaded> {
  return {
    missing: {
      reason: "this browser has no WebGPU",
      remedy: "use Chrome 113, Edge 113, Firefox 141, Safari 26 or later, over https or from localhost",
    },
  };
}

/** Asks for an adapter. */
export const quietly = <T>(ask: () => Promise<T>): Promise<T> => ask();
