import type { Assessment, Build, KernelResources } from "./schema.js";
import { figure, type Table } from "./tables.js";

/** Tables on how the ports were built, and on what kernels take of GPUs: none without ports and GPUs. */
export function buildTables(assessment: Assessment): Table[] {
  return [compilersTable(assessment), linesTable(assessment), resourcesTable(assessment)].filter(({ rows }) => rows.length > 0);
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

const unique = (rows: readonly string[][]): string[][] => [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()];
