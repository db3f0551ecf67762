import { f64 } from "isoform";
import type { Container } from "isoform/grid";
import { placeOf, type Axis } from "../equations/axes.js";
import type { Channel } from "../starts/channel-profile.js";
import { energyAt } from "../equations/gas.js";
import type { Model } from "../equations/model.js";
import { AMPLITUDE, noiseOf, withNoise, type NoiseStart } from "../starts/noise.js";
import { onceAPoint } from "../starts/once-a-point.js";
import type { Flow } from "../simulation/simulation.js";

/*
 * The flow between two walls at the start: a parabola and rolls along x, with noise where it is asked for. Devices compute the same bits as the host, as
 * functions are the host's, of one coordinate each.
 */

interface Parts {
  /** Velocity along x, at y. */
  readonly along: (y: number) => number;
  /** Speed of the rolls at y, and their angle at z. */
  readonly roll: (y: number) => number;
  readonly angle: (z: number) => number;
  /** Internal energy by volume. */
  readonly energy: number;
}

/** y across, z between 0 and `lz`. */
function partsOf({ gas, u0 }: Channel, lz: number): Parts {
  const rolls = Math.trunc(lz);
  return {
    along: (y) => 1.5 * u0 * (1 - y * y),
    roll: (y) => 0.05 * u0 * Math.sin(0.5 * Math.PI * y),
    angle: (z) => (2 * Math.PI * rolls * z) / lz,
    energy: energyAt(gas, 1),
  };
}

/** Conserved values of the flow at the start, without noise. */
function channelStart(channel: Channel, lz: number): (y: number, z: number) => readonly number[] {
  const { along, roll, angle, energy } = partsOf(channel, lz);
  return (y, z) => {
    const [u, speed, phase] = [along(y), roll(y), angle(z)];
    const [v, w] = [speed * Math.cos(phase), speed * Math.sin(phase)];
    return [1, u, v, w, energy + 0.5 * (u * u + v * v + w * w)];
  };
}

/** How a channel starts: see `Flow`. */
export function startOf(
  channel: Channel,
  axes: readonly [Axis, Axis, Axis],
  lz: number,
  random: boolean,
): Pick<Flow, "initial" | "initialOnDevices"> {
  const start = channelStart(channel, lz);
  const quiet: NoiseStart = (_x, y, z) => start(y, z);
  return {
    initial: onceAPoint(random ? withNoise(quiet, axes, channel.u0) : quiet),
    initialOnDevices: (model) => startContainer(model, partsOf(channel, lz), axes, random ? AMPLITUDE * channel.u0 : 0),
  };
}

/** @param amplitude of the noise */
function startContainer({ grid, fields, toReal }: Model, parts: Parts, [, across, span]: readonly Axis[], amplitude: number): Container {
  const { energy } = parts;
  const along = grid.axis("y", f64, (j) => parts.along(placeOf(across, j)));
  const roll = grid.axis("y", f64, (j) => parts.roll(placeOf(across, j)));
  const cosine = grid.axis("z", f64, (k) => Math.cos(parts.angle(placeOf(span, k))));
  const sine = grid.axis("z", f64, (k) => Math.sin(parts.angle(placeOf(span, k))));
  return grid.container(
    "start",
    { w: fields.w, along, roll, cosine, sine },
    ({ w, along, roll, cosine, sine }, c) => {
      const m = new Float64Array(3);
      m[0] = along[c];
      m[1] = roll[c] * cosine[c];
      m[2] = roll[c] * sine[c];
      const before = m[0] * m[0] + m[1] * m[1] + m[2] * m[2];
      let total = energy + 0.5 * before;
      if (amplitude > 0) {
        const noise = new Float64Array(3);
        noiseOf(c.x, c.y, c.z, noise);
        for (let n = 0; n < 3; n++) m[n] += amplitude * noise[n];
        total += 0.5 * (m[0] * m[0] + m[1] * m[1] + m[2] * m[2] - before);
      }
      w[c][0] = toReal(1);
      for (let n = 0; n < 3; n++) w[c][n + 1] = toReal(m[n]);
      w[c][4] = toReal(total);
    },
    () => [energy, amplitude, noiseOf, toReal],
  );
}
