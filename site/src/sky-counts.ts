import { f32, i32, kernel, view } from "isoform";
import { fromHammerAitoff } from "isoform/draw";
import { COS_OBLIQUITY, NODE, SIN_OBLIQUITY, SPIN, STEP, type ScanningLaw } from "../../apps/gsr/scanning/law.js";
import { axesAt, COS_FIELD, SIN_FIELD } from "../../apps/gsr/scanning/sight.js";

/*
 * Transits over a map of the sky: how often each place crosses one of the two fields of view.
 */

/** Sine of half the height of a field, .345 degrees. */
export const HALF_HEIGHT = Math.sin((0.345 * Math.PI) / 180);
/** Numbers of a step: the axes X and Y as it begins, Z in its middle. */
export const AXES_OF_STEP = 9;
const [COS_TURN, SIN_TURN] = [Math.cos(SPIN * STEP), Math.sin(SPIN * STEP)];

type Vector = readonly [number, number, number];

/** Turns a direction from ecliptic coordinates to ICRS. */
const icrsOf = ([x, y, z]: Vector): Vector => [x, COS_OBLIQUITY * y - SIN_OBLIQUITY * z, SIN_OBLIQUITY * y + COS_OBLIQUITY * z];

/**
 * Unit vectors in ICRS of the pixels of a map in ecliptic coordinates, in the projection of Hammer and Aitoff, three numbers each, row after row from the top;
 * longitudes grow to the left. Pixels outside the sky have 0.
 */
export function directionsOf(width: number, height: number): Float32Array {
  const directions = new Float32Array(3 * width * height);
  for (let j = 0; j < height; j++)
    for (let i = 0; i < width; i++) {
      const place = fromHammerAitoff(2 - (4 * (i + 0.5)) / width, 1 - (2 * (j + 0.5)) / height);
      if (!place) continue;
      const [longitude, latitude] = place;
      const ring = Math.cos(latitude);
      directions.set(icrsOf([ring * Math.cos(longitude), ring * Math.sin(longitude), Math.sin(latitude)]), 3 * (j * width + i));
    }
  return directions;
}

/** Axes of the satellite in some steps of the law, from step `first` on, for `countTransits`. */
export function axesOfSteps({ nodes }: ScanningLaw, first: number, steps: number): Float32Array {
  const axes = new Float32Array(AXES_OF_STEP * steps);
  const now = new Float64Array(AXES_OF_STEP);
  for (let n = 0; n < steps; n++) {
    const node = (k: number): Float64Array => nodes.subarray(NODE * k, NODE * (k + 1));
    const around = [node(first + n), node(first + n + 1)];
    axesAt(around, 0, 0.5 * STEP, now);
    axes.set(now, AXES_OF_STEP * n);
    axesAt(around, 0, 0, now);
    axes.set(now.subarray(0, 6), AXES_OF_STEP * n);
  }
  return axes;
}

/** The Sun and the spin axis at a step, directions in ICRS. */
export function marksAt({ nodes }: ScanningLaw, step: number): Float32Array {
  const node = nodes.subarray(NODE * step, NODE * (step + 1));
  return Float32Array.of(...icrsOf([node[8], node[9], 0]), ...node.subarray(0, 3));
}

/** Adds the transits of each pixel in some steps. Within one the satellite turns by ten degrees, and the axis Z is taken to rest. */
export const countTransits = kernel(
  "countTransits",
  { direction: view(f32, 3), axes: view(f32, 2), steps: i32, count: view(f32, 2) },
  ({ direction, axes, steps, count }, j, i) => {
    const x = direction[j][i][0];
    const y = direction[j][i][1];
    const z = direction[j][i][2];
    let seen = Math.fround(0);
    for (let n = 0; n < steps; n++) {
      const across = axes[n][6] * x + axes[n][7] * y + axes[n][8] * z;
      if (Math.abs(across) < HALF_HEIGHT) {
        const a = axes[n][0] * x + axes[n][1] * y + axes[n][2] * z;
        const b = axes[n][3] * x + axes[n][4] * y + axes[n][5] * z;
        for (let field = 0; field < 2; field++) {
          const side = field === 0 ? SIN_FIELD : -SIN_FIELD;
          // Sine and cosine of the angle by which the place is ahead of the field's middle.
          const sine = b * COS_FIELD - a * side;
          const cosine = a * COS_FIELD + b * side;
          if (cosine > 0 && sine >= 0 && sine * COS_TURN < cosine * SIN_TURN) seen += 1;
        }
      }
    }
    count[j][i] += seen;
  },
  () => [HALF_HEIGHT, COS_FIELD, SIN_FIELD, COS_TURN, SIN_TURN],
);
