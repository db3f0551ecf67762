import { accessSync, constants, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { IsoformError } from "../../base/errors.js";
import { METRICS, errorsIn } from "./log.js";

/** Folders of versions of Nsight Compute, where its installer puts them. */
const INSTALLED = "/opt/nvidia/nsight-compute";
const LEAVE = "or leave --counters out";

/**
 * The program ncu, in the folder $ISOFORM_NCU (then nowhere else), on the path, or where CUDA and Nsight Compute are installed by default.
 * @throws IsoformError where there is none
 */
export function findNcu(): string {
  const wish = process.env.ISOFORM_NCU;
  const folders = wish ? [wish] : [...(process.env.PATH ?? "").split(delimiter), "/usr/local/cuda/bin", ...installed()];
  const found = folders.map((folder) => join(folder, "ncu")).find(isProgram);
  if (found !== undefined) return found;
  const where = wish ? `in ${wish}, which ISOFORM_NCU names` : `($ISOFORM_NCU, the path, /usr/local/cuda/bin, ${INSTALLED})`;
  throw new IsoformError(
    `--counters reads hardware counters by ncu of NVIDIA's Nsight Compute, and none was found ${where}: install it, name its folder in ISOFORM_NCU, ${LEAVE}`,
  );
}

function installed(): string[] {
  try {
    return readdirSync(INSTALLED)
      .sort((a, b) => b.localeCompare(a, "en", { numeric: true }))
      .map((version) => join(INSTALLED, version));
  } catch {
    return [];
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Words that run a program under ncu. It counts between the program's cuProfilerStart and cuProfilerStop alone, leaves the GPU's clocks as they are, and empties
 * the caches before each kernel, as the counting rule takes each array from memory once a launch.
 */
export const ncuWords = (ncu: string, log: string, program: readonly string[]): string[] =>
  [
    [ncu, "--csv", "--log-file", log, "--print-units", "base"],
    ["--target-processes", "application-only", "--profile-from-start", "off"],
    ["--clock-control", "none", "--cache-control", "all"],
    ["--metrics", Object.values(METRICS).join(",")],
    program,
  ].flat();

/** Failures that have a known cause: words of ncu, what they mean, and what to do. */
const CAUSES: readonly (readonly [words: RegExp, cause: string, remedy: string])[] = [
  [
    /ERR_NVGPUCTRPERM/,
    "hardware counters are barred here",
    "run as root or with CAP_SYS_ADMIN, or load NVIDIA's kernel module with NVreg_RestrictProfilingToAdminUsers=0 (https://developer.nvidia.com/ERR_NVGPUCTRPERM)",
  ],
  [
    /Failed to initialize the profiler|LibraryNotLoaded/,
    "ncu cannot start its profiler here, as in sandboxes and containers that hide the driver's counters",
    "run it on the machine itself",
  ],
  [/Failed to find metric|not available on|Unknown metric/i, "this GPU or version of ncu lacks a metric", "install a newer Nsight Compute"],
  [/ERR_NVGPUCTRUNAVAIL|another profiler|already in use/i, "another tool uses the hardware counters", "end it"],
];

/** The refusal that lines of ncu stand for; undefined where it had no failure. */
export function refusalOf(said: string): IsoformError | undefined {
  const errors = errorsIn(said);
  if (errors.length === 0) return undefined;
  const text = [...new Set(errors)].slice(0, 3).join("; ");
  const [, cause, remedy] = CAUSES.find(([words]) => words.test(text)) ?? [undefined, "ncu failed", "see what it says"];
  return new IsoformError(`--counters: ${cause} (ncu: ${text}): ${remedy}, ${LEAVE}`);
}
