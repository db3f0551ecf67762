import { ITERATION } from "./application.js";
import { groupBy } from "./group.js";
import { type Cell, cellsOf, YARDSTICKS, yardstickOf } from "./metric.js";
import type { AssessedDevice, Assessment, Setting } from "./schema.js";

/** A table as data, for the terminal and for the report alike. */
export interface Table {
  title: string;
  columns: string[];
  rows: string[][];
  /** How many of the first columns are words (and stand to the left). */
  labels: number;
}

/** An error with two digits; `?` where one sample cannot tell. */
export function errorText(sigma: number | null): string {
  if (sigma === null || Number.isNaN(sigma)) return "?";
  if (sigma >= 0.995) return sigma.toFixed(sigma < 9.95 ? 1 : 0);
  if (sigma === 0) return "0";
  return sigma < 0.00995 ? sigma.toExponential(1) : sigma.toPrecision(2);
}

/** `98.27 ± 0.041`, in percent. */
export function percentText(value: number, sigma: number | null): string {
  return `${(100 * value).toFixed(2)} ± ${errorText(sigma === null ? null : 100 * sigma)}`;
}

/** `20.51 ± 0.12 ms` with the unit that suits. */
export function secondsText(seconds: number, sigma: number): string {
  const [unit, factor] = seconds >= 1 ? ["s", 1] : seconds >= 1e-3 ? ["ms", 1e3] : ["µs", 1e6];
  const scaled = seconds * factor;
  const digits = Math.max(0, 3 - Math.floor(Math.log10(scaled)));
  const error = Number.isNaN(sigma) ? "" : ` ± ${(sigma * factor).toFixed(digits)}`;
  return `${scaled.toFixed(digits)}${error} ${unit}`;
}

/** Three significant digits, without exponent: `2980`, `29.8`, `0.298`. */
export function figure(value: number): string {
  return value === 0 || value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

/** All tables of an assessment: devices, times by problem, Phi by problem, kernels by set, validation. */
export function tablesOf(assessment: Assessment): Table[] {
  const cells = cellsOf(assessment.runs);
  return [
    devicesTable(assessment),
    settingsTable(assessment),
    ...[...groupBy(cells, (c) => c.problem)].map(([problem, group]) => timesTable(assessment, problem, group)),
    ...phiTables(assessment),
    ...kernelTables(assessment),
    validationTable(assessment),
    missingTable(assessment),
  ].filter((table) => table.rows.length > 0);
}

/** The vendor's figures have columns where one is known. */
export function devicesTable({ devices }: Assessment): Table {
  const giga = (perSecond: number | null | undefined) => (perSecond ? figure(perSecond / 1e9) : "");
  const figures = [
    { name: "bandwidth GB/s", of: (d: AssessedDevice) => giga(d.peakBandwidth) },
    { name: "vendor's GB/s", of: (d: AssessedDevice) => giga(d.theoretical?.bandwidth) },
    { name: "GFLOP/s", of: (d: AssessedDevice) => giga(d.peakFlops) },
    { name: "vendor's GFLOP/s", of: (d: AssessedDevice) => giga(d.theoretical?.flops) },
  ].filter(({ name, of }) => !name.startsWith("vendor") || devices.some((d) => of(d) !== ""));
  return {
    title: "Devices",
    columns: ["device", "platform", ...figures.map((f) => f.name), "source"],
    labels: 2,
    rows: devices.map((d) => [
      d.name,
      d.platform,
      ...figures.map((f) => f.of(d)),
      d.bandwidthBy ? `${d.source} (${d.bandwidthBy})` : d.source,
    ]),
  };
}

function settingsTable({ settings = [] }: Assessment): Table {
  return {
    title: "Settings",
    columns: ["application", "platform", "problem", "devices", "precision", "form", "grid", "layout", "occ", "measured"],
    labels: 10,
    rows: settings.map(({ choices = [], ...s }) => [
      s.application,
      s.platform,
      s.problem,
      s.devices,
      s.precision,
      s.form ?? "",
      s.grid ?? "",
      s.layout ?? "",
      s.occ ?? "",
      choices.map(choiceText).join("; "),
    ]),
  };
}

/** `storage: dense soa 1.200 ms, sparse soa 2.310 ms` */
function choiceText({ of, seconds }: NonNullable<Setting["choices"]>[number]): string {
  const times = Object.entries(seconds).map(([way, time]) => `${way} ${(1e3 * time).toPrecision(4)} ms`);
  return `${of}: ${times.join(", ")}`;
}

function timesTable(assessment: Assessment, problem: string, cells: readonly Cell[]): Table {
  const best = groupBy(
    cells.filter((c) => c.quantity === ITERATION),
    (c) => c.platform,
  );
  const efficiency = (cell: Cell) => {
    const { application, platform, quantity } = cell;
    const kernel = assessment.kernels.find(
      (k) => k.application === application && k.platform === platform && k.problem === problem && k.quantity === quantity,
    );
    return kernel ? percentText(kernel.efficiency, kernel.sigma) : "";
  };
  const relative = (cell: Cell) => {
    if (cell.quantity !== ITERATION) return "";
    const least = Math.min(...best.get(cell.platform)!.map((c) => c.seconds.value));
    return ((100 * least) / cell.seconds.value).toFixed(2);
  };
  return {
    title: `Times: ${problem}`,
    columns: ["platform", "application", "quantity", "runs", "time", "GB/s", "GFLOP/s", "t_min/t %", "e_arch %"],
    labels: 3,
    rows: cells.map((c) => [
      c.platform,
      c.application,
      c.quantity,
      String(c.runs),
      secondsText(c.seconds.value, c.seconds.sigma),
      c.bytes === undefined ? "" : figure(c.bytes / c.seconds.value / 1e9),
      c.flops === undefined ? "" : figure(c.flops / c.seconds.value / 1e9),
      relative(c),
      efficiency(c),
    ]),
  };
}

/** The architectural efficiency first: it needs nobody else to be measured against. */
function phiTables({ metrics, yardstick = "set" }: Assessment): Table[] {
  return [...groupBy(metrics, (m) => m.problem)].flatMap(([problem, ofProblem]) =>
    [...groupBy(ofProblem, (m) => m.setName)].map(([setName, group]) => {
      const platforms = group[0].set.length;
      const row = (application: string): string[] => {
        const mine = group.filter((m) => m.application === application);
        const arch = mine.find(({ metric }) => metric === "arch");
        const apps = YARDSTICKS.map((one) => mine.find((m) => m.metric === "app" && yardstickOf(m) === one));
        const app = apps[YARDSTICKS.indexOf(yardstick)];
        const text = (of?: { value: number; sigma: number | null }) => (of ? percentText(of.value, of.sigma) : "");
        const supported = (arch ?? app)?.supported;
        const all = [application, text(arch), ...apps.map(text)];
        return platforms === 1
          ? all
          : [...all, supported ? `${supported.platforms} of ${platforms}` : "", text(arch?.supported), text(app?.supported)];
      };
      return {
        title: `Phi: ${problem}, ${setName}${setName === group[0].set.join() ? "" : ` (${group[0].set.join(", ")})`}`,
        columns: [
          "application",
          "Phi_arch %",
          ...YARDSTICKS.map((one) => `Phi_app ${one} %`),
          ...(platforms === 1 ? [] : ["runs on", "Phi_arch there %", `Phi_app ${yardstick} there %`]),
        ],
        labels: 1,
        rows: [...new Set(group.map((m) => m.application))].map(row),
      };
    }),
  );
}

function kernelTables({ kernelMeans }: Assessment): Table[] {
  const severalPlatforms = kernelMeans.filter((k) => k.set.length > 1);
  return [...groupBy(severalPlatforms, (k) => k.problem)].flatMap(([problem, ofProblem]) =>
    [...groupBy(ofProblem, (k) => k.setName)].map(([setName, group]) => {
      const applications = [...new Set(group.map((k) => k.application))];
      return {
        title: `Kernel efficiencies e_arch, mean over ${setName}: ${problem}`,
        columns: ["kernel", ...applications],
        labels: 1,
        rows: [...groupBy(group, (k) => k.quantity)].map(([quantity, row]) => [
          quantity,
          ...applications.map((a) => row.find((k) => k.application === a)?.efficiency.toFixed(3) ?? ""),
        ]),
      };
    }),
  );
}

function validationTable({ validation }: Assessment): Table {
  return {
    title: "Validation",
    columns: ["application", "platform", "problem", "against", "result", "max error"],
    labels: 5,
    rows: validation.map((v) => [
      v.application,
      v.platform,
      v.problem,
      v.against,
      v.ok ? "ok" : "WRONG",
      v.maxError?.toExponential(2) ?? "not a number",
    ]),
  };
}

function missingTable({ missing = [] }: Assessment): Table {
  return {
    title: "Missing",
    columns: ["application", "platform", "problem", "devices", "reason"],
    labels: 5,
    rows: missing.map((m) => [m.application, m.platform, m.problem, m.devices, m.reason.split("\n")[0]]),
  };
}

/** A table for a terminal, with its title. */
export function tableText({ title, columns, rows, labels }: Table): string {
  const widths = columns.map((name, c) => Math.max(name.length, ...rows.map((row) => row[c].length)));
  const line = (cells: readonly string[]) =>
    cells
      .map((text, c) => (c < labels ? text.padEnd(widths[c]) : text.padStart(widths[c])))
      .join("  ")
      .trimEnd();
  return [title, line(columns), widths.map((w) => "-".repeat(w)).join("  "), ...rows.map(line)].join("\n");
}
