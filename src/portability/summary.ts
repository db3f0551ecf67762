import { scaleLinear } from "d3-scale";
import { ITERATION } from "./application.js";
import type { PlatformLook } from "./cascade.js";
import { groupBy } from "./group.js";
import { HANDWRITTEN } from "./handwritten/sources.js";
import { type Cell, cellsOf, shownMetrics } from "./metric.js";
import type { Assessment } from "./schema.js";
import { SERIES_COLOURS, drawing, svgElement, line, svgText } from "./svg.js";
import { figure, percentText, secondsText, type Table } from "./tables.js";

type Metric = Assessment["metrics"][number];

/** The fastest path on one platform, beside the hand-written program. */
interface Best {
  readonly problem: string;
  readonly platform: string;
  readonly path: Cell;
  /** Architectural efficiencies; undefined if no roof or no work is known. */
  readonly arch?: number;
  readonly archByHand?: number;
  /** Time of the hand-written program over the time of the path. */
  readonly ofHandWritten?: number;
}

/** For each problem and platform the path with the shortest iterations, hand-written programs left aside. */
function bestPaths(assessment: Assessment): Best[] {
  const iterations = cellsOf(assessment.runs).filter((cell) => cell.quantity === ITERATION);
  return [...groupBy(iterations, ({ problem, platform }) => JSON.stringify([problem, platform])).values()].flatMap((cells): Best[] => {
    const byHand = cells.find(({ application }) => application === HANDWRITTEN);
    const paths = cells.filter((cell) => cell !== byHand);
    if (paths.length === 0) return [];
    const path = paths.reduce((a, b) => (b.seconds.value < a.seconds.value ? b : a));
    const { problem, platform } = path;
    const arch = (application: string) => archOf(assessment, application, platform, problem);
    return [
      {
        problem,
        platform,
        path,
        arch: arch(path.application),
        archByHand: arch(HANDWRITTEN),
        ofHandWritten: byHand && byHand.seconds.value / path.seconds.value,
      },
    ];
  });
}

/** All kernels of an application on a platform, weighted by their times: sum_k e_k t_k / sum_k t_k. */
function archOf({ kernels, runs }: Assessment, application: string, platform: string, problem: string): number | undefined {
  const mine = (each: { application: string; platform: string; problem: string }) =>
    each.application === application && each.platform === platform && each.problem === problem;
  let [allowed, taken] = [0, 0];
  for (const { quantity, seconds } of cellsOf(runs.filter(mine))) {
    const kernel = kernels.find((k) => mine(k) && k.quantity === quantity);
    if (!kernel) continue;
    allowed += kernel.efficiency * seconds.value;
    taken += seconds.value;
  }
  return taken > 0 ? allowed / taken : undefined;
}

/** How fast the fastest path of each platform is, against its roof and against the hand-written program. */
export function summaryTable(assessment: Assessment): Table {
  const paths = bestPaths(assessment);
  const percent = (value: number | undefined) => (value === undefined ? "" : (100 * value).toFixed(1));
  const figures = [
    { name: "e_arch %", of: ({ arch }: Best) => percent(arch) },
    { name: "hand-written %", of: ({ archByHand }: Best) => percent(archByHand) },
    { name: "of its speed", of: ({ ofHandWritten }: Best) => ofHandWritten?.toFixed(2) ?? "" },
  ].filter(({ of }) => paths.some((path) => of(path) !== ""));
  return {
    title: "Summary: the fastest path on each platform",
    columns: ["problem", "platform", "path", "iteration", ...figures.map(({ name }) => name)],
    labels: 3,
    rows: paths.map((best) => [
      best.problem,
      best.platform,
      best.path.application,
      secondsText(best.path.seconds.value, best.path.seconds.sigma),
      ...figures.map(({ of }) => of(best)),
    ]),
  };
}

/**
 * Phi of the applications that run on all platforms of a set of several. The application efficiency is left out where there is one of them only: it is
 * 100 % by construction.
 */
export function portabilityTable({ metrics, yardstick }: Assessment): Table {
  const portable = shownMetrics(metrics, yardstick).filter(({ set, value }) => set.length > 1 && value > 0);
  const isCompared = (one: Metric) =>
    portable.some((other) => other.application !== one.application && other.problem === one.problem && other.setName === one.setName);
  const groups = groupBy(portable, ({ problem, setName, application }) => JSON.stringify([problem, setName, application]));
  return {
    title: "Summary: Phi of what runs on all platforms of a set",
    columns: ["problem", "set", "platforms", "application", "Phi_arch %", `Phi_app ${yardstick ?? "set"} %`],
    labels: 4,
    rows: [...groups.values()].map((group) => {
      const [{ problem, setName, set, application }] = group;
      const value = (metric: Metric["metric"]) => {
        const found = group.find((m) => m.metric === metric && (metric === "arch" || isCompared(m)));
        return found ? percentText(found.value, found.sigma) : "";
      };
      return [problem, setName, String(set.length), application, value("arch"), value("app")];
    }),
  };
}

const WIDTH = 920;
const LEFT = 190;
const PLOT = 430;
const ROW = 20;
const TOP = 24;

/** Bars of the fastest paths' architectural efficiencies; a stroke marks the hand-written program. Undefined if no roof is known. */
export function summaryFigure(assessment: Assessment, { colourOf, letterOf }: PlatformLook): string | undefined {
  const rows = bestPaths(assessment).flatMap((best) => (best.arch === undefined ? [] : [{ ...best, arch: best.arch }]));
  if (rows.length === 0) return undefined;
  const most = Math.max(1, ...rows.flatMap(({ arch, archByHand = 0 }) => [arch, archByHand]));
  const x = scaleLinear([0, most], [LEFT, LEFT + PLOT]);
  const height = TOP + rows.length * ROW + 26;
  const bottom = TOP + rows.length * ROW;
  const ticks = x
    .ticks(5)
    .map(
      (e) =>
        line(x(e), TOP, x(e), bottom, e === 1 ? "roof" : "grid") +
        svgText(x(e), bottom + 16, `${Math.round(100 * e)}`, { class: "tick", "text-anchor": "middle" }),
    );
  const bars = rows.map(({ problem, platform, path, arch, archByHand, ofHandWritten }, n) => {
    const y = TOP + n * ROW;
    const first = rows[n - 1]?.problem !== problem;
    const colour = colourOf(platform) % SERIES_COLOURS;
    const words = `${path.application}, ${figure(100 * arch)} %${ofHandWritten === undefined ? "" : `, ${ofHandWritten.toFixed(2)} of hand-written`}`;
    return (
      (first && n > 0 ? line(0, y, WIDTH, y, "grid") : "") +
      (first ? svgText(0, y + 14, problem, { class: "label" }) : "") +
      svgElement("rect", { x: LEFT - 26, y: y + 2, width: 20, height: ROW - 4, rx: 3, class: `tile s${colour}` }) +
      svgText(LEFT - 16, y + 14, letterOf(platform), { class: "letter", "text-anchor": "middle" }) +
      svgElement("rect", { x: LEFT, y: y + 4, width: Math.max(1, x(arch) - LEFT), height: ROW - 8, rx: 2, class: `bar s${colour}` }) +
      (archByHand === undefined ? "" : line(x(archByHand), y + 1, x(archByHand), y + ROW - 1, "byhand")) +
      svgText(LEFT + PLOT + 14, y + 14, words, { class: "value" })
    );
  });
  return drawing(
    WIDTH,
    height,
    "Architectural efficiency of the fastest path on each platform",
    rows.map(({ problem, platform, arch }) => `${problem} on ${platform}: ${figure(100 * arch)} percent`).join("; "),
    svgText(
      LEFT,
      14,
      `architectural efficiency, %${rows.some(({ archByHand }) => archByHand) ? "; a stroke marks the hand-written program" : ""}`,
      {
        class: "axis",
      },
    ),
    ...ticks,
    ...bars,
  );
}
