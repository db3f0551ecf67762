import { ITERATION } from "./application.js";
import { roofsOf } from "./assessment.js";
import { cascade } from "./cascade.js";
import { groupBy } from "./group.js";
import { cellsOf } from "./metric.js";
import { type Kernels, bandwidthShares, roofline } from "./roofline.js";
import type { Assessment } from "./schema.js";
import { COLOURS, element, escape, marker } from "./svg.js";
import { type Table, tablesOf } from "./tables.js";

/** A page that needs nothing else: figures, tables and what they were measured on. It follows the reader's light or dark theme. */
export function report(assessment: Assessment): string {
  const applications = [...new Set([...assessment.runs, ...assessment.metrics].map(({ application }) => application))];
  const colourOf = (name: string) => numberIn(applications, name);
  const tables = tablesOf(assessment);
  const tablesNamed = (word: string) =>
    tables
      .filter((t) => t.title.startsWith(word))
      .map(tableHtml)
      .join("");
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
<p>${escape(summary(assessment))}</p>
</header>
<main>
<section><h2>Portability</h2>
<p>Φ is the harmonic mean of an application's efficiencies over a set of platforms, and 0 where it does not run on one of them. The
application efficiency compares its iteration with the fastest among the applications that run on the whole set; the architectural
efficiency compares its kernels with the platform's roofs. Errors are one standard deviation of the runs, propagated.</p>
${cascades(assessment, colourOf)}
${tablesNamed("Phi")}
</section>
${rooflines(assessment, colourOf)}
<section><h2>Measurements</h2>
${tablesNamed("Devices")}${tablesNamed("Settings")}${tablesNamed("Validation")}${tablesNamed("Missing")}${tablesNamed("Kernel")}${tablesNamed("Times")}
</section>
</main>
<footer>${assessment.host.map((m) => `<p>${escape(`${m.name}: ${m.processor}, ${m.threads} threads, ${(m.memory / 2 ** 30).toFixed(0)} GiB, ${m.system}, ${m.engine}, Isoform ${m.isoform}, ${m.date}`)}</p>`).join("")}</footer>
</body>
</html>
`;
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
      "application",
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

function cascades({ metrics }: Assessment, colourOf: (application: string) => number): string {
  const groups = groupBy(metrics, (m) => JSON.stringify([m.problem, m.setName, m.metric]));
  const draw = (scores: Assessment["metrics"]) => {
    const [{ problem, setName, metric }] = scores;
    return figureHtml(
      cascade(scores, colourOf),
      `${problem}, ${setName}: ${metric === "app" ? "application" : "architectural"} efficiency`,
    );
  };
  const small = [...groups.values()].filter(([{ set }]) => set.length === 1);
  const large = [...groups.values()].filter(([{ set }]) => set.length > 1);
  return `${large.map(draw).join("")}<div class="pair">${small.map(draw).join("")}</div>`;
}

/** For each problem, one figure a platform. Without counted operations there is no roofline, but still a bandwidth. */
function rooflines(assessment: Assessment, colourOf: (application: string) => number): string {
  const roofs = roofsOf(assessment.devices);
  const sections = [...groupBy(cellsOf(assessment.runs), (c) => c.problem)].map(([problem, ofProblem]) => {
    const groups = [...groupBy(ofProblem, (c) => c.platform)].flatMap(([platform, cells]): Kernels[] => {
      const roof = roofs.get(platform);
      return roof && cells.some((c) => c.bytes) ? [{ problem, platform, roof, cells }] : [];
    });
    if (groups.length === 0) return "";
    const counted = groups.every((g) => g.cells.some((c) => c.flops));
    const cells = groups.flatMap((g) => g.cells).filter((c) => c.quantity !== ITERATION);
    const kernels = [...new Set(cells.map((c) => c.quantity))];
    const shapeOf = (kernel: string) => numberIn(kernels, kernel);
    const applications = [...new Set(cells.map((c) => c.application))];
    const keys = [
      ...applications.map((name) => key(name, counted ? 0 : colourOf(name), colourOf(name))),
      ...(counted ? kernels.map((name) => key(name, shapeOf(name), COLOURS - 1)) : []),
    ];
    const draw = (group: Kernels) => (counted ? roofline(group, colourOf, shapeOf) : bandwidthShares(group, colourOf, colourOf));
    return `<h3>${escape(problem)}</h3><p class="keys">${keys.join(" ")}</p>
<div class="pair">${groups.map((g) => figureHtml(draw(g), g.platform)).join("")}</div>`;
  });
  const figures = sections.join("");
  return (
    figures &&
    `<section><h2>Kernels under the roofs</h2>
<p>What a kernel reaches against what the platform was measured to reach. Where operations are counted, this is its roofline; kernels
without operations (a copy) are in the tables only.</p>
${figures}</section>`
  );
}

function key(name: string, shape: number, colour: number): string {
  const sign = marker(8, 8, shape, colour, name);
  return `<span class="key">${element("svg", { viewBox: "0 0 16 16", width: 14, height: 14, "aria-hidden": "true" }, sign)} ${escape(name)}</span>`;
}

function figureHtml(svg: string, caption: string): string {
  return `<figure><figcaption>${escape(caption)}</figcaption>${svg}</figure>`;
}

function tableHtml({ title, columns, rows, labels }: Table): string {
  const cell = (tag: string, value: string, c: number) =>
    `<${tag}${c < labels ? ' class="words"' : ""}${tag === "th" ? ' scope="col"' : ""}>${escape(value)}</${tag}>`;
  return `<div class="scroll"><table><caption>${escape(title)}</caption><thead><tr>${columns.map((name, c) => cell("th", name, c)).join("")}</tr></thead>
<tbody>${rows.map((row) => `<tr>${row.map((value, c) => cell("td", value, c)).join("")}</tr>`).join("\n")}</tbody></table></div>`;
}

const LIGHT = ["#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed", "#0891b2", "#be185d", "#65a30d", "#92400e", "#475569"];
const DARK = ["#60a5fa", "#fbbf24", "#34d399", "#f87171", "#a78bfa", "#22d3ee", "#f472b6", "#a3e635", "#d6a77a", "#94a3b8"];

const colours = (list: readonly string[]) => list.map((c, i) => `--s${i}:${c}`).join(";");

const STYLE = `
:root{--ink:#16202c;--muted:#5b6776;--grid:#e4e8ee;--page:#f7f8fa;--panel:#fff;--edge:#dde2e9;${colours(LIGHT)}}
@media (prefers-color-scheme:dark){:root{--ink:#e6ebf2;--muted:#9aa7b8;--grid:#2a3441;--page:#0e141b;--panel:#161e28;--edge:#2a3441;${colours(DARK)}}}
${LIGHT.map((_, i) => `.s${i}{--c:var(--s${i})}`).join("")}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
header,main,footer{max-width:1010px;margin:0 auto;padding:0 20px}
header{padding-top:36px}h1{font-size:28px;letter-spacing:-.02em;margin:0}h2{font-size:20px;margin:40px 0 8px}h3{font-size:16px;margin:26px 0 4px}
header p,footer,section>p{color:var(--muted)}section>p{max-width:74ch}
footer{font-size:13px;padding-bottom:40px}
figure{margin:18px 0;padding:16px 18px;background:var(--panel);border:1px solid var(--edge);border-radius:10px;break-inside:avoid}
figcaption{font-weight:600;margin-bottom:10px}
svg{display:block;width:100%;height:auto;font-size:12px}
.pair{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(420px,100%),1fr));gap:0 18px}
.keys{display:flex;flex-wrap:wrap;gap:4px 18px;max-width:none}.key{display:inline-flex;align-items:center;gap:6px}.key svg{width:14px}
text{fill:var(--ink)}.tick,.axis{fill:var(--muted)}.note{fill:var(--muted);font-size:11px}.value{font-variant-numeric:tabular-nums}
.letter{font-size:11px;font-weight:600}.absent{fill:var(--muted);font-size:11px;font-style:italic}
.grid{stroke:var(--grid)}.roof{fill:none;stroke:var(--ink);stroke-width:1.6}
.curve{fill:none;stroke:var(--c);stroke-width:2}.marker{fill:var(--c);stroke:var(--panel);stroke-width:1}
.error{stroke:var(--c);stroke-width:1.4}.bar{fill:var(--c)}.tile{fill:var(--c);fill-opacity:.24}.whisker{stroke:var(--ink);stroke-width:1.6}
.scroll{overflow-x:auto;margin:18px 0}
table{border-collapse:collapse;font-size:13.5px;font-variant-numeric:tabular-nums}
caption{text-align:left;white-space:nowrap;font-weight:600;padding:6px 0}
th,td{padding:4px 12px;text-align:right;border-bottom:1px solid var(--edge);white-space:nowrap}
th{color:var(--muted);font-weight:600}.words{text-align:left}
@media print{body{background:#fff}figure{border-color:#ccc}}
`;
