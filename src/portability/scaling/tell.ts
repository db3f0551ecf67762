import { linkText } from "../../skeleton/ranks/links.js";
import { secondsText, type Table } from "../tables.js";
import { MODES, type Mode } from "./request.js";
import { efficiencyOf, type Findings } from "./study.js";

const percent = (share: number | undefined): string => (share === undefined ? "?" : `${(100 * share).toFixed(1)} %`);
const signed = (share: number): string => `${share < 0 ? "-" : "+"}${(100 * Math.abs(share)).toFixed(1)} %`;
const time = (seconds: number): string => secondsText(seconds, NaN);

/** Seconds of one rank by mode: predicted, and measured. */
const aloneIn = ({ forecast, compared }: Findings, mode: Mode) => ({
  predicted: forecast.points.find((point) => point.mode === mode && point.ranks === 1)?.seconds,
  measured: compared.find((point) => point.mode === mode && point.ranks === 1)?.measured,
});

/** Tables of a study: what was measured beside its prediction, and what is predicted for more ranks. */
export function scalingTables(found: Findings): Table[] {
  const { forecast, compared, extrapolated, error } = found;
  const { counted = "cells" } = forecast;
  const shown = compared.map((point) => {
    const alone = aloneIn(found, point.mode);
    const { mode, ranks, extents, seconds, measured, least, most } = point;
    return [
      mode,
      extents.join(" x "),
      `${ranks}`,
      time(seconds),
      `${time(measured)} (${time(least)} to ${time(most)})`,
      signed(point.error),
      percent(efficiencyOf(point, seconds, alone.predicted)),
      percent(efficiencyOf(point, measured, alone.measured)),
    ];
  });
  const more = extrapolated.map((point) => {
    const { predicted } = aloneIn(found, point.mode);
    const { mode, ranks, extents, seconds, low, high } = point;
    const [worst, best] = [high, low].map((value) => efficiencyOf(point, value, predicted));
    return [
      mode,
      extents.join(" x "),
      `${ranks}`,
      time(seconds),
      `${time(low)} to ${time(high)}`,
      percent(efficiencyOf(point, seconds, predicted)),
      `${percent(worst)} to ${percent(best)}`,
    ];
  });
  const { link, kernels } = forecast.inputs;
  const inputs = [
    `${Object.keys(kernels).length} ${counted === "cells" ? "boxes" : "shares"} on one device`,
    ...(link ? [`link ${linkText(link)}${link.carrier === "in turns" ? ", members of one memory in turns" : ""}`] : []),
  ].join("; ");
  return [
    {
      title: `${forecast.request.application}, seconds of an iteration; predicted from ${inputs}`,
      columns: ["scaling", counted, "ranks", "predicted", "measured: median (least to most)", "error", "efficiency predicted", "measured"],
      labels: 2,
      rows: shown,
    },
    {
      title:
        `Predicted only${link?.carrier === "in turns" ? ", as if each rank had a processor of its own" : ""}; the band has errors of up to ${percent(error)} as above, ` +
        "0.5 to 2 times the latency, 0.5 to 1 times the bandwidth",
      columns: ["scaling", counted, "ranks", "predicted", "band", "efficiency", "band"],
      labels: 2,
      rows: more,
    },
  ].filter(({ rows }) => rows.length > 0);
}

/** Points that have no prediction, a line each. */
export const leftOutText = ({ forecast: { leftOut } }: Findings): string =>
  Object.entries(leftOut)
    .map(([name, reason]) => `left out: ${name}: ${reason}`)
    .join("\n");

/** Modes that a study has. */
export const modesOf = ({ forecast }: Findings): Mode[] => MODES.filter((mode) => forecast.request.sizes[mode] !== undefined);
