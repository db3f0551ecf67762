import { type Bar, type BarChart, platformBars } from "./bars.js";
import type { PlatformLook } from "./cascade.js";
import { type Cell, cellsOf, betterOf, isIteration, isTimed, measuredOf } from "./cells.js";
import { groupBy } from "./group.js";
import { shownMetrics, yardstickOf } from "./metric.js";
import { type Goal, navigationChart } from "./navigation.js";
import type { Assessment } from "./schema.js";
import { isCompared } from "./summary.js";
import { measuredText, percentText, timeUnit } from "./tables.js";

/** A figure of the report. */
interface Chart {
  readonly svg: string;
  readonly caption: string;
}

type Score = Assessment["metrics"][number];

/** Bars of iterations and of application efficiencies by platform, for one problem on several platforms. */
export function barCharts(assessment: Assessment, colourOf: (application: string) => number, look: PlatformLook): Chart[] {
  const iterations = cellsOf(assessment.runs).filter(isIteration);
  const platforms = [...new Set(iterations.map(({ platform }) => platform))];
  if (platforms.length < 2) return [];
  const draw = (chart: BarChart): Chart => ({ svg: platformBars(chart, colourOf, look), caption: chart.title });
  return [measuredBars(iterations, platforms), ...efficiencyBars(assessment)].map(draw);
}

function measuredBars(cells: readonly Cell[], platforms: readonly string[]): BarChart {
  const values = cells.map((cell) => measuredOf(cell).value);
  const timed = cells.every(isTimed);
  const unit = timed ? timeUnit(Math.max(...values)) : { name: "", factor: 1 };
  const bars = cells.map((cell): Bar => {
    const { application, platform } = cell;
    const { value, sigma } = measuredOf(cell);
    const error = Number.isNaN(sigma) ? null : sigma * unit.factor;
    return {
      application,
      platform,
      value: value * unit.factor,
      sigma: error,
      words: `${application} on ${platform}: ${measuredText(cell)}`,
    };
  });
  return {
    title: timed ? "Iteration times by platform" : "Figures of merit by platform",
    axis: timed ? `time of an iteration, ${unit.name}` : `figure of merit, ${betterOf(cells[0])} is better`,
    platforms,
    applications: [...new Set(cells.map(({ application }) => application))],
    bars,
  };
}

/** A chart for each set of several platforms on which several applications compare. */
function efficiencyBars({ metrics, yardstick }: Assessment): BarChart[] {
  const shown = shownMetrics(metrics, yardstick).filter(({ metric, set }) => metric === "app" && set.length > 1);
  return [...groupBy(shown, ({ setName }) => setName).values()]
    .filter((scores) => scores.length > 1)
    .map((scores): BarChart => {
      const [{ set, setName }] = scores;
      return {
        title: `Application efficiencies by platform${setName === "all" ? "" : `, ${setName}`}`,
        axis: `application efficiency (yardstick ${yardstickOf(scores[0])}), %`,
        platforms: set,
        applications: scores.map(({ application }) => application),
        bars: scores.flatMap(barsOf),
        least: 100,
      };
    });
}

const barsOf = ({ application, efficiencies }: Score): Bar[] =>
  efficiencies
    .filter(({ value }) => value > 0)
    .map(({ platform, value, sigma }) => ({
      application,
      platform,
      value: 100 * value,
      sigma: sigma === null ? null : 100 * sigma,
      words: `${application} on ${platform}: ${percentText(value, sigma)} %`,
    }));

/** Navigation charts of the sets of several platforms, by each efficiency, for applications that run on more than one of them. */
export function navigationCharts(assessment: Assessment, seriesOf: (application: string) => number, goal?: Goal): Chart[] {
  const { metrics, divergences = [], yardstick } = assessment;
  const shown = shownMetrics(metrics, yardstick).filter(({ set, supported }) => set.length > 1 && (supported?.platforms ?? 2) > 1);
  return [...groupBy(shown, ({ setName, metric }) => JSON.stringify([setName, metric])).values()].flatMap((scores): Chart[] => {
    const [{ metric, setName }] = scores;
    if (metric === "app" && scores.length < 2 && !isCompared(scores[0], metrics)) return [];
    const svg = navigationChart(scores, divergences, seriesOf, goal);
    const efficiency = metric === "app" ? "application" : "architectural";
    const caption = `Navigation: ${efficiency} efficiency and code convergence${setName === "all" ? "" : `, ${setName}`}`;
    return svg === undefined ? [] : [{ svg, caption }];
  });
}
