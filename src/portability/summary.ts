import { scaleLinear } from "d3-scale";
import type { PlatformLook } from "./cascade.js";
import { bestOf, type Cell, cellsOf, isIteration, isTimed, measuredOf, relativeTo } from "./cells.js";
import { groupBy } from "./group.js";
import { HANDWRITTEN } from "./handwritten/sources.js";
import { shownMetrics } from "./metric.js";
import { isOwnSource } from "./portable.js";
import type { Assessment } from "./schema.js";
import { SERIES_COLOURS, drawing, svgElement, line, svgText } from "./svg.js";
import { figure, measuredText, percentText, type Table } from "./tables.js";

type Metric = Assessment["metrics"][number];

/** The fastest path on one platform, beside the hand-written program. */
interface Best {
  readonly problem: string;
  readonly platform: string;
  readonly path: Cell;
  /** Architectural efficiencies; undefined if no roof or no work is known. */
  readonly arch?: number;
  readonly archByHand?: number;
  /** Performance relative to the hand-written program: its time over the time of the path. */
  readonly ofHandWritten?: number;
}

/** For each problem and platform the path with the best iterations, hand-written programs left aside. */
function bestPaths({ runs, kernels }: Assessment): Best[] {
  const cells = cellsOf(runs);
  const cellsBy = groupBy(cells, pathKey);
  const kernelsBy = groupBy(kernels, pathKey);
  const iterations = groupBy(cells.filter(isIteration), ({ problem, platform }) => JSON.stringify([problem, platform]));
  return [...iterations.values()].flatMap((here): Best[] => {
    const byHand = here.find(({ application }) => application === HANDWRITTEN);
    const paths = here.filter((cell) => cell !== byHand);
    if (paths.length === 0) return [];
    const path = bestOf(paths);
    const { problem, platform } = path;
    const arch = (cell: Cell) => archOf(cellsBy.get(pathKey(cell)) ?? [], kernelsBy.get(pathKey(cell)) ?? []);
    return [
      {
        problem,
        platform,
        path,
        arch: arch(path),
        archByHand: byHand && arch(byHand),
        ofHandWritten: byHand && relativeTo(byHand, path).value,
      },
    ];
  });
}

const pathKey = ({ application, platform, problem }: Pick<Cell, "application" | "platform" | "problem">): string =>
  JSON.stringify([application, platform, problem]);

/** All kernels of an application on a platform, weighted by their times: sum_k e_k t_k / sum_k t_k. */
function archOf(cells: readonly Cell[], kernels: Assessment["kernels"]): number | undefined {
  let [allowed, taken] = [0, 0];
  for (const cell of cells) {
    const kernel = kernels.find(({ quantity }) => quantity === cell.quantity);
    if (!kernel) continue;
    allowed += kernel.efficiency * measuredOf(cell).value;
    taken += measuredOf(cell).value;
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
  const timed = paths.every(({ path }) => isTimed(path));
  return {
    title: `Summary: the ${timed ? "fastest" : "best"} path on each platform`,
    columns: ["problem", "platform", "path", timed ? "iteration" : "iteration or figure of merit", ...figures.map(({ name }) => name)],
    labels: 3,
    rows: paths.map((best) => [
      best.problem,
      best.platform,
      best.path.application,
      measuredText(best.path),
      ...figures.map(({ of }) => of(best)),
    ]),
  };
}

/** Whether an application efficiency says something: measured against itself alone it is 100 % by construction. */
export function isCompared(one: Metric, shown: readonly Metric[]): boolean {
  const others = shown.filter(
    (other) => other.application !== one.application && other.problem === one.problem && other.setName === one.setName,
  );
  // A program that runs on some platforms is a yardstick there, unless it is the same source under the name of its backend.
  const isElsewhere = ({ application, supported }: Metric) =>
    one.yardstick === "any" && supported?.platforms !== 0 && !(isOwnSource(application) && isOwnSource(one.application));
  return others.some((other) => other.value > 0 || isElsewhere(other));
}

/** Phi of the applications that run on all platforms of a set of several; application efficiencies of the ones that compare with others. */
export function portabilityTable({ metrics, yardstick }: Assessment): Table {
  const shown = shownMetrics(metrics, yardstick).filter(({ set }) => set.length > 1);
  const portable = shown.filter(({ value }) => value > 0);
  const groups = groupBy(portable, ({ problem, setName, application }) => JSON.stringify([problem, setName, application]));
  return {
    title: "Summary: Phi of what runs on all platforms of a set",
    columns: ["problem", "set", "platforms", "application", "Phi_arch %", `Phi_app ${yardstick ?? "set"} %`],
    labels: 4,
    rows: [...groups.values()].map((group) => {
      const [{ problem, setName, set, application }] = group;
      const value = (metric: Metric["metric"]) => {
        const found = group.find((m) => m.metric === metric && (metric === "arch" || isCompared(m, shown)));
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
