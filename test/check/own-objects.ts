import { f64, kernel, list, u32, view } from "isoform";
import { random } from "isoform/patterns";

/* Parameters that objects and functions of the library give. */

export const drawn = kernel("drawn", { seed: u32, x: view(f64), ...random }, ({ seed, x, philox, uniform }, i) => {
  const words = new Uint32Array(4);
  words[0] = i >>> 0;
  philox(words, seed, 1);
  x[i] = uniform(words[0], words[1]);
});

export const kept = kernel("kept", { x: view(f64), near: list(f64, 2) }, ({ x, near }, i) => {
  if (x[i] < 1) near.push(x[i]);
});
