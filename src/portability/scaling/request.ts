import { IsoformError } from "../../base/errors.js";
import type { Links } from "../../skeleton/ranks/links.js";
import type { SkeletonSettings } from "../../skeleton/settings.js";

/** Command by which a study measures in processes of their own; nobody needs to type it. */
export const PART_COMMAND = "scaling-part";

/** `strong`: all ranks share one box; `weak`: each has one of its own. */
export const MODES = ["strong", "weak"] as const;
/** One of `MODES`. */
export type Mode = (typeof MODES)[number];

/** Subject of a scaling study. */
export interface ScalingRequest {
  readonly application: string;
  readonly settings: Omit<SkeletonSettings, "size" | "planes">;
  /** Form of an application with several. Default: the fastest of each device. */
  readonly form?: string;
  /** Cells along each axis, or GiB where the application has no grid, by mode; a mode that is missing is not studied. */
  readonly sizes: Readonly<Partial<Record<Mode, number>>>;
  /** Numbers of ranks that are measured, in ascending order. */
  readonly ranks: readonly number[];
  /** Numbers of ranks that are only predicted, in ascending order. */
  readonly extrapolated: readonly number[];
  /** Devices of `{n}` members; with `launch`, devices of each rank. A word with `{i}` is repeated for 0, 1, ... */
  readonly devices: string;
  /** Command that starts `{n}` processes. Default: the members are of one process. */
  readonly launch?: string;
  /** Ranks on a node. Default: all are on one. */
  readonly perNode?: number;
  /** Links between nodes, for numbers of ranks that one node does not have. */
  readonly links?: Links;
  /** Runs of each point. */
  readonly repeats: number;
}

/** One box on one number of ranks. */
export interface StudyPoint {
  readonly mode: Mode;
  readonly ranks: number;
  /** Cells along each axis but the last, or GiB as the request has them. */
  readonly size: number;
  /** Cells along the last axis, or GiB of all ranks together. */
  readonly planes: number;
}

/** Name of a point: `strong 2`. */
export const pointName = ({ mode, ranks }: Pick<StudyPoint, "mode" | "ranks">): string => `${mode} ${ranks}`;

/** The points of a study for some numbers of ranks. */
export function pointsOf({ sizes }: Pick<ScalingRequest, "sizes">, ranks: readonly number[]): StudyPoint[] {
  return MODES.flatMap((mode) => {
    const size = sizes[mode];
    return size === undefined ? [] : ranks.map((count) => ({ mode, ranks: count, size, planes: mode === "weak" ? size * count : size }));
  });
}

/**
 * Refuses requests that cannot be run.
 * @throws IsoformError with the option and the remedy
 */
export function checkRequest({ sizes, ranks, extrapolated, devices, launch }: ScalingRequest): void {
  const refuse = (problem: string): never => {
    throw new IsoformError(problem);
  };
  if (MODES.every((mode) => sizes[mode] === undefined))
    refuse("nothing to measure: give --strong or --weak with the cells along each axis, or with GiB for an application without a grid");
  for (const [option, list] of Object.entries({ ranks, extrapolate: extrapolated }))
    if (list.some((count, n) => n > 0 && count <= list[n - 1])) refuse(`--${option} ${list.join()}: give numbers in ascending order`);
  const many = /\{n\}|\{i\}/;
  if (launch === undefined) {
    if (devices.startsWith("mpi:")) refuse(`--devices ${devices} spans processes: give --launch, such as "mpirun -n {n}"`);
    if (!many.test(devices) && ranks.some((count) => count > 1))
      refuse(`--devices ${devices} names no number of members: write {n}, as in "wasm*{n}", or {i}, as in "cuda:{i}"`);
    return;
  }
  if (!launch.includes("{n}")) refuse(`--launch ${launch} does not say how many processes to start: write {n}, as in "mpirun -n {n}"`);
  if (!devices.startsWith("mpi:") || many.test(devices) || /[*,]/.test(devices))
    refuse(`--devices ${devices}: with --launch it is one device of each rank, such as mpi:wasm`);
}

/** The devices of a template for a number of members. */
export function devicesFor(template: string, count: number): string {
  return template
    .split(",")
    .flatMap((word) => (word.includes("{i}") ? Array.from({ length: count }, (_, i) => word.replaceAll("{i}", String(i))) : [word]))
    .join()
    .replaceAll("{n}", String(count))
    .replaceAll(/\*1(?=,|$)/g, "");
}

/** One device of a template, in one process. */
export const oneDevice = (template: string): string => devicesFor(template, 1).replace(/^mpi:/, "").split(",")[0];
