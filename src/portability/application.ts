import type { Command } from "commander";
import type { Launch } from "../device/device.js";
import type { DeviceSet } from "../set/index.js";
import type { GridKind } from "../domain/index.js";
import type { Choice, GridSettings, Storage } from "../skeleton/index.js";

/*
 * Interface of a program that `isoform assess` can run on any device, and arguments of its own command.
 */

/** The quantity whose time makes the application efficiency; every other quantity is a kernel and makes the architectural one. */
export const ITERATION = "iteration";

/** The problem that an application is to solve. */
export interface ProblemOptions extends Partial<GridSettings> {
  /** Size of the problem in GiB, as the application counts it. Default: the application's (a smaller one for `quick`). */
  gib?: number;
  /** Iterations in one run. Default: the application's. */
  iterations?: number;
  /** The share of one member of this many, on one device, which has a time but no result of its own; for applications with a `division`. */
  memberOf?: number;
  /** A first look: the smallest size and count that still say something. */
  quick?: boolean;
  /** The way in which the application does its work, by a name in its `forms`. Default: the first. */
  form?: string;
  /** Unknowns of the global section, of applications with `hasGlobals`. Default: 0. */
  globals?: 0 | 1;
}

/** How an application on a grid has run; nothing is `auto` once it did. */
export interface GridReport extends Storage {
  readonly occ: GridSettings["occ"];
  /** Choices that were left to measurement. */
  readonly choices: readonly (Choice & { readonly of: string })[];
}

/** Mean over the iterations of one run. */
export interface Sample {
  /** `iteration`, or a kernel's name. */
  quantity: string;
  /** By the device's clock (`DeviceEvent.since`), for one iteration or one launch. */
  seconds: number;
  /** Moved and done in that time, by the counting rule (`Launch.cost`); every kernel has them. */
  bytes?: number;
  flops?: number;
}

/** Verdict on the final state of a run, compared with a reference. */
export interface Verdict {
  ok: boolean;
  /** The largest deviation, in the measure that `against` names. */
  maxError: number;
  /** The reference, in words: `exact solution x = 1, relative`. */
  against: string;
}

/** A launch of an iteration. */
export interface IterationLaunch {
  /** As the application names its work; several launches may share a name. */
  readonly name: string;
  readonly launch: Launch;
}

/** An application with its data on a set of devices, ready to run as often as wanted. */
export interface PreparedApplication {
  /** Application and size, the same on every set of devices: `gsr 0.25 GiB`. */
  readonly problem: string;
  /**
   * One run from the start, without the preparation.
   * @param iterations number of iterations, if it differs from the problem's
   */
  run(iterations?: number): Promise<Sample[]>;
  /** Judges the last run; a run counts only if it is ok. */
  validate(): Promise<Verdict>;
  /** The form that it has, of an application with several. */
  readonly form?: string;
  /** Launches of an iteration in their order, for `isoform explain`, where an iteration is not a sequence of containers. */
  readonly launches?: readonly IterationLaunch[];
  /** Files of a program that is not Isoform's own source, with the lines that it uses, for code divergence: `8,10-12`. */
  readonly files?: readonly { readonly file: string; readonly id: string; readonly lines: string }[];
  /** For an application on a grid: storage and spread of the last run. */
  report?(): GridReport;
  /** Gives the devices' memory back. */
  free(): void;
}

/**
 * Arguments of a hand-written program for an application, and the judgement of its results. The programs are `bench/baselines/assessed`: in
 * C with OpenMP, and in CUDA.
 */
export interface HandWritten {
  /** The file's name, without its ending. */
  readonly program: string;
  /** Problem as `PreparedApplication` names it. */
  readonly problem: string;
  readonly iterations: number;
  readonly sizes: readonly number[];
  readonly inputs: readonly Float64Array[];
  /** Lengths of the arrays that take its results. */
  readonly outputs: readonly number[];
  /**
   * Quantities that it measures, `iteration` first; undefined for one that the application has not in this problem. Their bytes and operations are the
   * application's, so that equal times are equal efficiencies.
   */
  readonly quantities: readonly (string | undefined)[];
  validate(outputs: readonly Float64Array[]): Verdict | Promise<Verdict>;
}

/** Ways in which an application can do its work. */
export interface ApplicationForms {
  /** The default first. */
  readonly names: readonly string[];
  /** Names of forms that one device alone can take, of an application with a `division`. */
  readonly alone?: readonly string[];
  /** The fastest form of a set, as measured, that its memory has room for. */
  fastest(set: DeviceSet, options: ProblemOptions): string;
}

/** Traffic of one member with the others in an iteration. */
export interface MemberTraffic {
  /** Bytes that it sends. */
  readonly bytes: number;
  readonly messages: number;
  /** Messages of others that it waits for one after the other. */
  readonly waits: number;
}

/** How an application without a grid divides its work among the members of a set. */
export interface WorkDivision {
  /** Unit of `extents`, in a word: `rows`. */
  readonly counted: string;
  /** Counts of the whole problem. */
  extents(options: ProblemOptions): readonly number[];
  exchange(options: ProblemOptions, members: number): MemberTraffic;
  /** Throws LaunchError for a problem that cannot be divided among this many. */
  requireMembers(options: ProblemOptions, members: number): void;
}

/** An application that `isoform assess` can measure. */
export interface Application {
  /** As typed after `isoform assess`: `gsr`, `stream`. */
  readonly name: string;
  /** One line for help and report. */
  readonly summary: string;
  /** It runs on sets of several devices, and takes the options `grid`, `layout` and `occ`. */
  readonly onGrid?: boolean;
  /** Kinds of grids that it runs on. Default: all. */
  readonly grids?: readonly GridKind[];
  /** How several devices work together, of an application without a grid. Without it, one device does all. */
  readonly division?: WorkDivision;
  /** Ways in which it can do its work, for `--form`, if there are several. */
  readonly forms?: ApplicationForms;
  /** Whether its system may have a global section, for `--global`. */
  readonly hasGlobals?: boolean;
  /** Device memory that `prepare` will take. Sizes are checked before anything is allocated. */
  footprint(options: ProblemOptions): number;
  /** Throws LaunchError for options that make no sense, DeviceError for a device that cannot run it. */
  prepare(set: DeviceSet, options: ProblemOptions, progress?: Progress): Promise<PreparedApplication>;
  /** The same problem for hand-written programs, where there are some. */
  byHand?(options: ProblemOptions): HandWritten | Promise<HandWritten>;
}

/** Whether an application has the option `grid` with that value. */
export const hasGrid = ({ onGrid, grids }: Application, kind: GridSettings["grid"]): boolean =>
  Boolean(onGrid) && (grids === undefined || kind === "auto" || grids.includes(kind));

/** Progress callback: `done` of `total`, in the unit that `text` names. */
export type Progress = (done: number, total: number, text?: string) => void;

/** Whether a command is ended from outside: by Ctrl-C, or at the end of a batch job's time. */
export interface Interruption {
  /** Aborted by the first signal. */
  readonly stop: AbortSignal;
  /** The first signal, once there was one. */
  readonly signal?: "SIGINT" | "SIGTERM";
  /** Exit code after a signal, as shells have it: 130 or 143; else 0. */
  readonly exitCode: number;
  /** Restores the default effect of signals. */
  ignore(): void;
}

/** Begins to show the progress of something, under a label. */
export type ProgressFactory = (label: string) => { update: Progress; done(): void };

/** Paths by the names of their options, in camel case; under `arguments`, the files that a command takes without an option. */
export type OutputFiles = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Services of the command line for an application's own command. */
export interface Shell {
  /** To standard output. */
  print(text: string): void;
  /** A bar on a terminal, a line now and then elsewhere; on standard error. Call `done` when the task is over. */
  progress(label: string): { update: Progress; done(): void };
  /**
   * Finds out before long work whether its results can be written: every file of a command is named here, before the first is written.
   * @param outputs paths by the names of their options, `{ json: options.json }` for `--json`; those that were not given are undefined
   * @param inputs files that are read, which no output may replace
   * @param replaced for outputs that may be written over an input after all: that input's name, such as `{ checkpoint: "restart" }`
   * @throws IsoformError for a file that cannot be written, and where two outputs, of this call or one before, or an output and an input are one file
   */
  checkOutputs(outputs: OutputFiles, inputs?: OutputFiles, replaced?: Readonly<Record<string, string>>): Promise<void>;
  /** Writes the whole file or leaves what was there. Throws IsoformError. */
  writeFile(path: string, text: string): Promise<void>;
  /** Gives the command an exit code for its end, which all processes of a job give alike: none then ends the others. */
  endWith(code: number): void;
  /** Catches SIGINT and SIGTERM from now on, so that the work can end in order; a second signal ends the process at once. */
  interruption(): Interruption;
}

/** Exports of `apps/<name>/application.ts`. */
export interface ApplicationModule {
  application: Application;
}

/** Exports of `apps/<name>/command.ts`: it adds its subcommand (`isoform gsr ...`) to the program. */
export interface CommandModule {
  command(program: Command, shell: Shell): void;
  /** Commands, `pic push`, whose data lies in one process; others span the processes of `mpi:`. */
  readonly inOneProcess?: readonly string[];
}
