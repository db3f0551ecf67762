import { chmod, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/*
 * A program that stands for ncu: it takes ncu's words, runs what it is given, and writes a log of the real format.
 */

/** What a fake ncu does: counts what its program says it has launched, each line below in place of that, or a failure with this text. */
export interface FakeNcu {
  /** Lines of the log. Default: a table with the launches of the program's own account. */
  readonly log?: string;
  /** Prints this in place of running the program. */
  readonly output?: string;
  readonly status?: number;
  /** Leaves out this many of the table's launches. */
  readonly lost?: number;
}

/** Columns of `ncu --csv` of Nsight Compute 2025.3. */
export const HEADER =
  '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"';

/** The rows of one launch. */
export const rowsOf = (id: number, kernel: string, values: readonly (readonly [metric: string, unit: string, value: string])[]): string =>
  values
    .map(
      ([metric, unit, value]) =>
        `"${id}","7","node","127.0.0.1","${kernel}","1","7","(256, 1, 1)","(4, 1, 1)","0","9.0","Command line profiler metrics","${metric}","${unit}","${value}"`,
    )
    .join("\n");

/** Writes the program into a folder of its own, for ISOFORM_NCU. Its words are left in `words.json` there. */
export async function fakeNcu(how: FakeNcu = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "isoform-ncu-"));
  const path = join(folder, "ncu");
  await writeFile(path, program(folder, how));
  await chmod(path, 0o755);
  return folder;
}

const program = (folder: string, { log, output, status = 0, lost = 0 }: FakeNcu): string => `#!${process.execPath}
const { spawnSync } = require("node:child_process");
const { writeFileSync } = require("node:fs");
const words = process.argv.slice(2);
writeFileSync(${JSON.stringify(join(folder, "words.json"))}, JSON.stringify({ words, locale: process.env.LC_ALL }));
const file = words[words.indexOf("--log-file") + 1];
const [command, ...rest] = words.slice(words.indexOf("--metrics") + 2);
const given = ${JSON.stringify({ log, output })};
const ended = given.output === undefined ? spawnSync(command, rest, { encoding: "utf8" }) : { stdout: given.output, stderr: "", status: ${status} };
process.stdout.write(ended.stdout);
process.stderr.write(ended.stderr);
let text = given.log;
if (text === undefined && ended.status === 0) {
  const launches = JSON.parse(ended.stdout.trim().split("\\n").at(-1)).kernels.flatMap((one) => Array.from({ length: one.launches }, () => one));
  const rows = launches.slice(${lost}).flatMap(({ kernel, launches, bytes }, id) => {
    const row = (metric, unit, value) => '"' + [id, 7, "node", "127.0.0.1", kernel + "_kernel", 1, 7, "(256, 1, 1)", "(4, 1, 1)", 0, "9.0", "Command line profiler metrics", metric, unit, value].join('","') + '"';
    const whole = (value) => Math.round(value).toLocaleString("en-US");
    return [
      row("dram__bytes_read.sum", "byte", whole(bytes / launches)),
      row("dram__bytes_write.sum", "byte", whole(bytes / launches / 2)),
      row("gpu__time_duration.sum", "ns", whole(2000)),
      row("l1tex__t_sector_hit_rate.pct", "%", "12.50"),
      row("lts__t_sectors_op_atom.sum", "sector", "0"),
      row("lts__t_sectors_op_red.sum", "sector", whole(4000)),
    ];
  });
  text = ["==PROF== Connected to process 7 (" + command + ")", ${JSON.stringify(HEADER)}, ...rows, "==PROF== Disconnected from process 7"].join("\\n");
}
writeFileSync(file, text ?? "");
process.exitCode = ended.status ?? 1;
`;
