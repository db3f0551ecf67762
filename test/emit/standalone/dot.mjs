// Kernel "dot" (kernels.ts), written by isoform as JavaScript, for one thread.
// import { dot_launch } from "./dot.mjs"

// Folds the partial results of chunks: 256 at a time in 8 lanes, level after level.
function $foldPartials(partials, fold, identity) {
  if (partials.length === 0) return identity;
  while (partials.length > 1) {
    const folded = [];
    for (let first = 0; first < partials.length; first += 256) {
      const lanes = new Array(8).fill(identity);
      for (let n = first; n < Math.min(first + 256, partials.length); n++) lanes[n % 8] = fold(lanes[n % 8], partials[n]);
      for (let step = 4; step >= 1; step /= 2) for (let k = 0; k < step; k++) lanes[k] = fold(lanes[k], lanes[k + step]);
      folded.push(lanes[0]);
    }
    partials = folded;
  }
  return partials[0];
}

const $lane_s = new Float64Array(8);

/*
 * Runs kernel "dot" over a range.
 *   x               element 0 of an array of rank 1, read
 *   x_extent0       elements
 *   y               element 0 of an array of rank 1, read
 *   y_extent0       elements
 *   i_begin, i_end  first index of the range and the one behind its last, along each axis
 * Arrays may not share memory.
 * Arrays are typed arrays that begin with element 0.
 * Returns { s }.
 */
export function dot_launch({ x, x_extent0, y, y_extent0, i_begin, i_end }) {
  const $partials_s = [];
  for (let $first = i_begin; $first < i_end; $first += 256) {
    const $end = Math.min($first + 256, i_end);
    $lane_s.fill(0);
    for (let i = $first, $k = 0; i < $end; i++, $k = ($k + 1) & 7) {
      $lane_s[$k] = $lane_s[$k] + x[i] * y[i]; // line 14
    }
    $partials_s.push($lane_s[0] + $lane_s[4] + ($lane_s[2] + $lane_s[6]) + ($lane_s[1] + $lane_s[5] + ($lane_s[3] + $lane_s[7])));
  }
  return { s: $foldPartials($partials_s, (a, b) => a + b, 0) };
}
