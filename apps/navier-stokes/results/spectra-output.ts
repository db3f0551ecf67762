import { plot, type Curve, type Panel } from "isoform/draw";
import { inWallUnits } from "./friction.js";
import type { Flow } from "../simulation/simulation.js";
import type { Spectral, Spectrum } from "../measures/spectra.js";
import type { Means } from "../measures/statistics.js";
import type { NamedColumns } from "./text-table.js";
import { channelWall, foldHalves, sampledText } from "./walls.js";

/** Spectra of a flow along an axis, and the means of its flow. */
interface SpectraOf {
  readonly axis: Spectral;
  readonly flow: Flow;
  readonly spectrum: Spectrum;
  readonly means: Means;
}

/** Spectra at one height. */
interface Level {
  /** Distance from the wall, by half the channel's height and in units of the wall. */
  readonly y?: number;
  readonly yPlus?: number;
  readonly densities: readonly Float64Array[];
}

/** Wave numbers by 1 / h, densities by u_tau^2 h in a channel; in a box by 1 / L and u0^2 L. Of a channel both halves in their mean, of a box all of it. */
function levelsOf({ flow, spectrum, means }: SpectraOf): Level[] {
  const modes = spectrum.waves.length;
  const rows = spectrum.densities[0].length / modes;
  const row = (values: Float64Array, j: number): Float64Array => values.subarray(j * modes, (j + 1) * modes);
  if (!flow.channel) {
    const unit = flow.reference.speed ** 2 * rows;
    const mean = (values: Float64Array): Float64Array =>
      Float64Array.from({ length: modes }, (_, m) => {
        let sum = 0;
        for (let j = 0; j < rows; j++) sum += values[j * modes + m];
        return sum / unit;
      });
    return [{ densities: spectrum.densities.map(mean) }];
  }
  const { profile, wall, friction } = channelWall(flow, means);
  const { yPlus } = inWallUnits(profile, wall, friction);
  const unit = friction.velocity ** 2;
  const folded = spectrum.densities.map((values) =>
    Array.from({ length: modes }, (_, m) => foldHalves(Array.from({ length: rows }, (_, j) => row(values, j)[m] / unit))),
  );
  return Array.from(profile.y, (y, j) => ({
    y,
    yPlus: yPlus[j],
    densities: folded.map((ofMode) => Float64Array.from(ofMode, (values) => values[j])),
  }));
}

/** Columns `y`, `y_plus` (of channels), wave number `k` and densities `E_uu`, `E_vv`, `E_ww`, wave numbers fastest. */
export function spectraTable(of: SpectraOf): NamedColumns {
  const { waves } = of.spectrum;
  const levels = levelsOf(of);
  const column = (value: (level: Level, mode: number) => number): Float64Array =>
    Float64Array.from(levels.flatMap((level) => Array.from(waves, (_, mode) => value(level, mode))));
  const heights = of.flow.channel
    ? ([
        ["y", column(({ y }) => y!)],
        ["y_plus", column(({ yPlus }) => yPlus!)],
      ] as const)
    : [];
  const densities = ["E_uu", "E_vv", "E_ww"].map((name, n) => [name, column(({ densities: list }, mode) => list[n][mode])] as const);
  return new Map([...heights, ["k", column((_, mode) => waves[mode])], ...densities]);
}

/** Heights in units of the wall that the figure of a channel shows: at the peak of fluctuations, in the logarithmic layer, and the centre. */
const HEIGHTS = [15, 60, Infinity] as const;

/** Densities over wave numbers, in double logarithms, beside Kolmogorov's law, as SVG. */
export function spectraFigure(of: SpectraOf): string {
  const levels = levelsOf(of);
  const isChannel = of.flow.channel !== undefined;
  const shown = isChannel ? HEIGHTS.map((height) => nearest(levels, height)) : levels;
  const title = `Spectra of the velocity along ${of.axis}, ${sampledText(of.spectrum)}`;
  return plot(
    title,
    shown.map((level) => panel(of, level)),
  );
}

const nearest = (levels: readonly Level[], height: number): Level =>
  levels.reduce((best, each) =>
    Math.abs(each.yPlus! - Math.min(height, 1e9)) < Math.abs(best.yPlus! - Math.min(height, 1e9)) ? each : best,
  );

function panel({ axis, spectrum: { waves } }: SpectraOf, { yPlus, y, densities }: Level): Panel {
  const curves = densities.map((values, n): Curve => ({
    name: `E_${"uvw"[n].repeat(2)}`,
    as: "line",
    x: waves.subarray(1),
    y: values.subarray(1),
  }));
  const most = Math.max(...densities.flatMap((values) => Array.from(values.subarray(1))));
  // Below this there is round-off alone.
  const least = most * 1e-12;
  const law: Curve = {
    name: "k^-5/3",
    as: "dashes",
    x: waves.subarray(1),
    y: waves.subarray(1).map((k) => most * (k / waves[1]) ** (-5 / 3)),
  };
  const unit = yPlus === undefined ? ["k, by 1 / length", "E / u0^2"] : [`k_${axis} h`, "E / (u_tau^2 h)"];
  return {
    title: yPlus === undefined ? "Mean over the box" : `y+ = ${yPlus.toPrecision(3)}, y / h = ${y!.toPrecision(2)}`,
    x: { label: unit[0], log: true },
    y: {
      label: unit[1],
      log: true,
      from: Math.max(least, Math.min(...densities.flatMap((values) => Array.from(values.subarray(1)).filter((value) => value > least)))),
    },
    curves: [...curves, law],
  };
}
