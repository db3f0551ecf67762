import { roofsOf } from "./assessment.js";
import { buildTables } from "./build-tables.js";
import { cascade, type PlatformLook } from "./cascade.js";
import { cellsOf, isIteration, isTimed } from "./cells.js";
import { groupBy } from "./group.js";
import { publishedKernels, withPublishedOperations } from "./intensities.js";
import { shownMetrics } from "./metric.js";
import type { Goal } from "./navigation.js";
import { barCharts, navigationCharts } from "./report-charts.js";
import { type ProblemKernels, bandwidthShares, roofline } from "./roofline.js";
import type { Assessment } from "./schema.js";
import { SERIES_COLOURS, svgElement, escapeSvg, marker } from "./svg.js";
import { isCompared, portabilityTable, summaryFigure, summaryTable } from "./summary.js";
import { STYLE } from "./report-style.js";
import { devicesTable, type Table, tablesOf } from "./tables.js";

/**
 * A page that needs nothing else: a summary, then a chapter for each application. It follows the reader's light or dark theme.
 * @param goal shaded in navigation charts
 */
export function report(assessment: Assessment, goal?: Goal): string {
  const applications = [...new Set([...assessment.runs, ...assessment.metrics].map(({ application }) => application))];
  const platforms = [...new Set([...assessment.devices, ...assessment.runs].map(({ platform }) => platform))];
  const look: Look = {
    goal,
    colourOf: (name) => numberIn(applications, name),
    platform: { colourOf: (name) => numberIn(platforms, name), letterOf: (name) => letter(numberIn(platforms, name)) },
  };
  const figures = summaryFigure(assessment, look.platform);
  const chapters = [...groupBy(problemsOf(assessment), applicationOf)];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Isoform: performance portability</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>Performance portability</h1>
<p>${escapeSvg(summary(assessment))}</p>
</header>
<main>
<section><h2>Summary</h2>
<p>The architectural efficiency is the time that a platform's roofs (its bandwidth, its rate of multiply-adds) allow for the kernels, over the time
that they took. The application efficiency compares iterations with the best program ${assessment.yardstick === "any" ? "on the platform" : "among those that run on the whole set"}. Φ is the harmonic mean of
an efficiency over a set of platforms, and 0 where an application does not run on one of them. Errors are one standard deviation of the runs, propagated.</p>
${(assessment.notes ?? []).map((note) => `<p>${escapeSvg(note)}.</p>`).join("")}
<p class="letters">${platforms.map((name) => `<span class="s${numberIn(platforms, name) % SERIES_COLOURS}"><b>${look.platform.letterOf(name)}</b>${escapeSvg(name)}</span>`).join("")}</p>
${figures ? figureHtml({ svg: figures, caption: "The fastest path on each platform" }) : ""}
${tablesHtml([summaryTable(assessment), portabilityTable(assessment), devicesTable(assessment)])}
${chapters.length > 1 ? `<nav>${chapters.map(([name], n) => `<a href="#chapter${n}">${escapeSvg(name)}</a>`).join("")}</nav>` : ""}
</section>
${chapters.map(([name, problems], n) => chapter(assessment, name, problems, look, { id: `chapter${n}`, open: chapters.length === 1 })).join("\n")}
${builtChapter(assessment)}
</main>
<footer>${assessment.host.map((m) => `<p>${escapeSvg(`${m.name}: ${m.processor}, ${m.threads} threads, ${(m.memory / 2 ** 30).toFixed(0)} GiB, ${m.system}, ${m.engine}, Isoform ${m.isoform}, ${m.date}`)}</p>`).join("")}</footer>
</body>
</html>
`;
}

/** Appearance of applications and platforms in all figures of a page. */
interface Look {
  /** Shaded in navigation charts. */
  readonly goal?: Goal;
  readonly colourOf: (application: string) => number;
  readonly platform: PlatformLook;
}

/** A, B, ... Z, AA, ... */
const letter = (n: number): string => (n < 26 ? "" : letter(Math.floor(n / 26) - 1)) + String.fromCharCode(65 + (n % 26));

/** Everything that was to be computed, with or without a result. */
const problemsOf = ({ runs, validation, missing = [] }: Assessment): string[] => [
  ...new Set([...runs, ...validation, ...missing].map(({ problem }) => problem)),
];

/** Problems are named as application and size; others are chapters of their own. */
const applicationOf = (problem: string): string => problem.replace(/ [\d.]+ GiB$/, "");

/** Part of an assessment for one problem. */
function partOf(assessment: Assessment, problem: string): Assessment {
  const of = <T extends { problem: string }>(list: readonly T[] = []): T[] => list.filter((each) => each.problem === problem);
  const { runs, metrics, kernels, kernelMeans, validation, settings, missing } = assessment;
  const measured = { runs: of(runs), metrics: of(metrics), kernels: of(kernels), kernelMeans: of(kernelMeans) };
  return { ...assessment, ...measured, validation: of(validation), settings: of(settings), missing: of(missing) };
}

/** All problems of one application: figures, then tables that open on demand. */
function chapter(
  assessment: Assessment,
  name: string,
  problems: readonly string[],
  look: Look,
  { id, open }: { id: string; open: boolean },
): string {
  const parts = problems.map((problem) => {
    const part = partOf(assessment, problem);
    const tables = tablesOf({ ...part, devices: [] });
    return `<h3>${escapeSvg(problem)}</h3>
${cascades(shownMetrics(part.metrics, part.yardstick), look)}${comparisons(part, look)}${rooflines(part, problem, look)}
<details class="tables"><summary>Tables: ${escapeSvg([...new Set(tables.map(({ title }) => title.split(/[:,]/)[0].toLowerCase()))].join(", "))}</summary>${tablesHtml(tables)}</details>`;
  });
  return `<details class="chapter"${open ? " open" : ""}><summary>${escapeSvg(name)}</summary><div id="${id}">${parts.join("")}</div></details>`;
}

/** How the ports were built, their lines, what kernels take of GPUs, and what these counted. */
function builtChapter(assessment: Assessment): string {
  const tables = buildTables(assessment);
  if (tables.length === 0) return "";
  return `<details class="chapter"><summary>How it was built</summary><div>${tablesHtml(tables)}</div></details>`;
}

function numberIn(names: readonly string[], name: string): number {
  return Math.max(0, names.indexOf(name));
}

function summary({ runs }: Assessment): string {
  const count = (values: string[], word: string) => {
    const { size } = new Set(values);
    return `${size} ${word}${size === 1 ? "" : "s"}`;
  };
  return [
    count(
      runs.map((r) => r.application),
      "code path",
    ),
    count(
      runs.map((r) => r.problem),
      "problem",
    ),
    count(
      runs.map((r) => r.platform),
      "platform",
    ),
    count(
      runs.map((r) => JSON.stringify([r.application, r.problem, r.platform, r.run])),
      "run",
    ),
  ].join(", ");
}

/**
 * Cascades of code paths that run on several platforms, if the set has several: other paths are in the tables, and in the figures of their
 * platforms.
 */
function cascades(metrics: Assessment["metrics"], { colourOf, platform }: Look): string {
  const groups = [...groupBy(metrics, (m) => JSON.stringify([m.setName, m.metric])).values()].map((scores) => {
    const portable = scores.filter(({ supported, value }) => (supported?.platforms ?? 2) > 1 || value > 0);
    return portable.length > 0 ? portable : scores;
  });
  const draw = (scores: Assessment["metrics"]) => {
    const [{ setName, metric }] = scores;
    const caption = `${metric === "app" ? "Application" : "Architectural"} efficiency${setName === "all" ? "" : `, ${setName}`}`;
    return figureHtml({ svg: cascade(scores, colourOf, platform), caption });
  };
  const order = groups.toSorted(([a], [b]) => Number(a.metric === "app") - Number(b.metric === "app"));
  const says = (scores: Assessment["metrics"]) => scores[0].metric === "arch" || scores.length > 1 || isCompared(scores[0], metrics);
  const small = order.filter((scores) => scores[0].set.length === 1 && says(scores));
  const large = order.filter((scores) => scores[0].set.length > 1 && says(scores));
  return `${large.map(draw).join("")}<div class="pair">${small.map(draw).join("")}</div>`;
}

/** Bars by platform with their key, and navigation charts. */
function comparisons(part: Assessment, { colourOf, platform, goal }: Look): string {
  const bars = barCharts(part, colourOf, platform);
  const applications = [...new Set([...part.runs, ...part.metrics].map(({ application }) => application))];
  const keys = applications.map((name) => key(name, 1, colourOf(name))).join(" ");
  const charts = navigationCharts(part, colourOf, goal);
  return `${bars.length > 0 ? `<p class="keys">${keys}</p>${bars.map(figureHtml).join("")}` : ""}<div class="pair">${charts.map(figureHtml).join("")}</div>`;
}

/**
 * Rooflines for the one problem of the assessment, one figure a platform. Without counted operations kernels of the published program have its intensities;
 * for others there is no roofline, but still a bandwidth.
 */
function rooflines(assessment: Assessment, problem: string, { colourOf, platform: { letterOf } }: Look): string {
  const roofs = roofsOf(assessment.devices);
  const ofProblem = cellsOf(assessment.runs).filter(isTimed);
  const measured = [...groupBy(ofProblem, (c) => c.platform)].flatMap(([platform, cells]): ProblemKernels[] => {
    const roof = roofs.get(platform);
    return roof && cells.some((c) => c.bytes) ? [{ problem, platform, roof, cells }] : [];
  });
  if (measured.length === 0) return "";
  const counts = measured.every((g) => g.cells.some((c) => c.flops));
  const published = counts ? undefined : withPublishedOperations(measured.flatMap((g) => g.cells));
  const groups = published ? measured.map((g) => ({ ...g, cells: published.filter((c) => c.platform === g.platform) })) : measured;
  const counted = counts || published !== undefined;
  const cells = groups.flatMap((g) => g.cells).filter((c) => !isIteration(c));
  const kernels = [...new Set(cells.map((c) => c.quantity))];
  const shapeOf = (kernel: string) => numberIn(kernels, kernel);
  const applications = [...new Set(cells.map((c) => c.application))];
  const keys = [
    ...applications.map((name) => key(name, counted ? 0 : colourOf(name), colourOf(name))),
    ...(counted ? kernels.map((name) => key(name, shapeOf(name), SERIES_COLOURS - 1)) : []),
  ];
  const draw = (group: ProblemKernels) => (counted ? roofline(group, colourOf, shapeOf) : bandwidthShares(group, colourOf, colourOf));
  const figureOf = (g: ProblemKernels) =>
    figureHtml({ svg: draw(g), caption: `Kernels under the roofs of ${letterOf(g.platform)}, ${g.platform}` });
  return `<p class="keys">${keys.join(" ")}</p>${counts ? "" : `<p>${escapeSvg(operationsNote(published !== undefined))}</p>`}
<div class="pair">${groups.map(figureOf).join("")}</div>`;
}

/** Says why kernels without counted operations are where they are. */
const operationsNote = (published: boolean): string =>
  published
    ? "Operations are not counted in all timings: kernels without them stand at the arithmetic intensities of the published solver (Malenza et al., TPDS 2025)."
    : `Operations are not counted in all timings, and not all kernels are the published solver's (${publishedKernels().join(", ")}): figures show shares of the bandwidth in place of rooflines.`;

function key(name: string, shape: number, colour: number): string {
  const sign = marker(8, 8, shape, colour, name);
  return `<span class="key">${svgElement("svg", { viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true" }, sign)} ${escapeSvg(name)}</span>`;
}

function figureHtml({ svg, caption }: { readonly svg: string; readonly caption: string }): string {
  return `<figure><figcaption>${escapeSvg(caption)}</figcaption>${svg}</figure>`;
}

const tablesHtml = (tables: readonly Table[]): string =>
  tables
    .filter(({ rows }) => rows.length > 0)
    .map(tableHtml)
    .join("");

function tableHtml({ title, columns, rows, labels }: Table): string {
  const cell = (tag: string, value: string, c: number) =>
    `<${tag}${c < labels ? ' class="words"' : ""}${tag === "th" ? ' scope="col"' : ""}>${escapeSvg(value)}</${tag}>`;
  return `<div class="scroll"><table><caption>${escapeSvg(title)}</caption><thead><tr>${columns.map((name, c) => cell("th", name, c)).join("")}</tr></thead>
<tbody>${rows.map((row) => `<tr>${row.map((value, c) => cell("td", value, c)).join("")}</tr>`).join("\n")}</tbody></table></div>`;
}
