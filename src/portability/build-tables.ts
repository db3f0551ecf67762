import type { Assessment, Build, KernelCounters, KernelResources } from "./schema.js";
import { figure, type Table } from "./tables.js";

/** Tables on how the ports were built, and on what kernels take of GPUs and move there: none without ports and GPUs. */
export function buildTables(assessment: Assessment): Table[] {
  return [compilersTable(assessment), linesTable(assessment), resourcesTable(assessment), countersTable(assessment)].filter(
    ({ rows }) => rows.length > 0,
  );
}

/** One row a port: its command is the same for all forms and problems. */
function compilersTable({ builds = [] }: Assessment): Table {
  return {
    title: "Compilers of the ports",
    columns: ["port", "platform", "compiler", "version", "precision", "command, for each KERNEL"],
    labels: 6,
    rows: unique(builds.map((b) => [b.port, b.platform, b.compiler, b.version, b.precision, b.command])),
  };
}

function linesTable({ builds = [] }: Assessment): Table {
  return {
    title: "Lines of code, without blank ones and comments",
    columns: ["application", "problem", "kernels", "lines", "in kernels", "for data", "one source"],
    labels: 2,
    rows: unique(builds.map(linesRow)),
  };
}

const linesRow = ({ application, problem, kernels, lines, source }: Build): string[] =>
  [application, problem, kernels, lines.total, lines.kernels, lines.data, source].map(String);

function resourcesTable({ resources = [] }: Assessment): Table {
  return {
    title: "Resources of kernels",
    columns: [
      "application",
      "platform",
      "problem",
      "kernel",
      "registers",
      "local B",
      "shared B",
      "threads a block",
      "blocks an SM",
      "occupancy %",
    ],
    labels: 4,
    rows: resources.map(resourcesRow),
  };
}

function resourcesRow({
  application,
  platform,
  problem,
  kernel,
  registers,
  localBytes,
  sharedBytes,
  threads,
  blocks,
  occupancy,
}: KernelResources) {
  const known = (value: number | undefined): string =>
    value === undefined ? "-" : Number.isInteger(value) ? String(value) : figure(value);
  const share = occupancy === undefined ? undefined : 100 * occupancy;
  return [
    application,
    platform,
    problem,
    kernel,
    known(registers),
    known(localBytes),
    known(sharedBytes),
    known(threads),
    known(blocks),
    known(share),
  ];
}

function countersTable({ counters = [] }: Assessment): Table {
  return {
    title: "Hardware counters: means of a launch, with empty caches",
    columns: [
      "application",
      "platform",
      "problem",
      "kernel",
      "launches",
      "counted MB",
      "measured MB",
      "read",
      "written",
      "measured/counted",
      "FLOP/B counted",
      "measured",
      "L1 hits %",
      "L2 atomics G/s",
    ],
    labels: 4,
    rows: counters.map(countersRow),
  };
}

function countersRow({ application, platform, problem, kernel, launches, ...counted }: KernelCounters): string[] {
  const { bytes, flops, read, written, seconds, l1HitRate, atomicSectors } = counted;
  const moved = read + written;
  const over = (value: number | undefined, by: number | undefined): string =>
    value === undefined || by === undefined || by === 0 ? "-" : figure(value / by);
  return [
    application,
    platform,
    problem,
    kernel,
    String(launches),
    over(bytes, 1e6),
    over(moved, 1e6),
    over(read, 1e6),
    over(written, 1e6),
    over(moved, bytes),
    over(flops, bytes),
    over(flops, moved),
    over(l1HitRate, 0.01),
    over(atomicSectors, 1e9 * seconds),
  ];
}

const unique = (rows: readonly string[][]): string[][] => [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()];
