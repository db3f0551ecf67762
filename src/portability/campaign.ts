import type { Device, OpenOptions, Precision } from "../device/device.js";
import { DEFAULT_SETTINGS, type GridSettings } from "../skeleton/settings.js";
import { DeviceError, EmitError, LaunchError } from "../ir/errors.js";
import type { Application, PreparedApplication, ProblemOptions, Progress } from "./application.js";
import type { Evidence } from "./assessment.js";
import { hardwareOf, thisMachine } from "./machine.js";
import { measurePeaks, type Peaks } from "./measure.js";
import { merge } from "./merge.js";
import type { Run } from "./metric.js";
import { portDevice, portOf, type Port } from "./ports/names.js";
import type { Missing, Setting, Validation } from "./schema.js";
import { Target } from "./target.js";

export interface CampaignOptions extends Partial<GridSettings>, OpenOptions {
  /** Sets of devices, each measured by itself: `wasm`, `wasm*3`, `cuda:0+cuda:1`; every device of this machine where absent. */
  devices?: readonly string[];
  /** Emitted files that are measured as well. */
  ports?: readonly Port[];
  /** Runs that count; one more before warms up. */
  repeats: number;
  gib?: number;
  iterations?: number;
  quick?: boolean;
  /** Time for all runs, shared out among the applications: when one's share is over, its repeats end, but not before three. */
  seconds?: number;
}

export type ProgressFactory = (label: string) => { update: Progress; done(): void };

/** How devices are found: the registry of backends, or a stand-in. */
export interface Registry {
  names(options?: OpenOptions): Promise<string[]>;
  /** Devices of this machine that are not among these names, and why. */
  leftOut?(options?: OpenOptions): Promise<LeftOut[]>;
  open(name: string, options?: OpenOptions): Promise<Device>;
}

interface LeftOut {
  readonly name: string;
  readonly backend: string;
  readonly platform: string;
  readonly reason: string;
}

/** Enough for a mean and its error, of a quick look or where time is short. */
const FEWEST_REPEATS = 3;
/** Of one run, where time is short and nobody asked for more. */
const FEW_ITERATIONS = 5;

/**
 * Runs applications on devices and measures the devices' peaks. The repeats of an application go round the devices, so that a change
 * of the machine's mood meets them all. A run counts only if its result is valid. A device that cannot run an application is listed as
 * missing there; where nothing ran at all, the first one's error is thrown.
 * Throws DeviceError for a device that cannot be opened, LaunchError for a problem that does not fit the devices and for options that
 * an application does not have.
 */
export async function measureApplications(
  applications: readonly Application[],
  options: CampaignOptions,
  progress: ProgressFactory,
  registry: Registry = installed,
): Promise<Evidence> {
  const started = performance.now();
  const names = [...(options.devices ?? (await registry.names({ f64: options.f64 }))), ...(options.ports ?? []).map(portDevice)];
  const leftOut = options.devices ? [] : ((await registry.leftOut?.({ f64: options.f64 })) ?? []);
  const opened = new Map<string, Device>();
  const open = async (name: string): Promise<Device> => {
    const device = opened.get(name) ?? (await registry.open(name, { f64: options.f64 }));
    opened.set(name, device);
    return device;
  };
  try {
    const targets: Target[] = [];
    for (const name of names) targets.push(await Target.open(name, open));
    const devices = [...opened.values()];
    const { gib, precision, quick, grid, layout, occ } = options;
    const iterations = options.iterations ?? (options.seconds && FEW_ITERATIONS);
    const problem: ProblemOptions = { gib, precision, quick, iterations, grid, layout, occ };
    for (const application of applications) for (const target of targets) checkFits(application, target, problem);
    const peaks = await peaksOf(devices, options, progress);
    const parts: Evidence[] = [];
    const refusals: Refusal[] = [];
    const missing: Missing[] = [];
    const repeats = quick ? Math.min(FEWEST_REPEATS, options.repeats) : options.repeats;
    const share = ((options.seconds ?? Infinity) - seconds(started)) / applications.length;
    for (const application of applications) {
      const groups = groupsThatFit(application, targets, problem);
      const ran: Evidence[] = [];
      const refused: Refusal[] = [];
      for (const group of groups) {
        const limits = { repeats, seconds: share / groups.length };
        const measured = await measureTogether(application, group, problem, limits, progress);
        ran.push(...measured.evidence);
        refused.push(...measured.refusals);
      }
      const name = ran[0]?.settings?.[0].problem ?? application.name;
      missing.push(...refused.map((refusal) => missingOf(refusal, name)));
      for (const { name: devices, backend, platform, reason } of leftOut)
        missing.push({ application: `isoform-${backend}`, platform, problem: name, devices, reason });
      refusals.push(...refused);
      parts.push(...ran);
    }
    if (parts.length === 0 && refusals.length > 0) throw refusals[0].error;
    // Once more, for what disturbed the first measurement may be over, and a peak is the most that was ever seen.
    const later = quick ? peaks : await peaksOf(devices, options, progress);
    const both = (device: Device) => [peaks, later].map((found) => found.get(device)!);
    return merge([...parts, { host: [thisMachine()], devices: targets.map((t) => t.assessed(both)), runs: [], validation: [], missing }]);
  } finally {
    await Promise.all([...opened.values()].map((device) => device.close()));
  }
}

const installed: Registry = {
  /** js-debug checks every access, so its times say nothing; the applications compute in f64. */
  async names({ f64 } = {}) {
    const { doctor } = await import("../device/open.js");
    const found = (await doctor()).flatMap((report) => report.devices);
    return found.filter(({ name, capabilities }) => name !== "js-debug" && (capabilities.f64 || f64 === "emulate")).map(({ name }) => name);
  },
  async leftOut({ f64 } = {}) {
    if (f64 === "emulate") return [];
    const { doctor } = await import("../device/open.js");
    const reason = "it has no f64: --f64 emulate computes with the sum of two f32";
    return (await doctor()).flatMap(({ backend, devices }) =>
      devices
        .filter(({ capabilities }) => !capabilities.f64)
        .map(({ name, label }) => ({ name, backend, platform: hardwareOf(label), reason })),
    );
  },
  async open(name, options) {
    const port = portOf(name);
    if (port) return (await import("./ports/open.js")).openPort(port);
    const { open } = await import("../device/open.js");
    return open(name, options);
  },
};

/** Throws LaunchError where an application cannot run on the devices, or does not have an option that is given. */
function checkFits(application: Application, { name, set, memory }: Target, problem: ProblemOptions): void {
  const given = (["grid", "layout", "occ"] as const).find((option) => problem[option] !== undefined);
  if (!application.onGrid && given !== undefined)
    throw new LaunchError(`--${given}: ${application.name} has no grid; leave the option out, or name only applications on grids`);
  if (!application.onGrid && set.members.length > 1)
    throw new LaunchError(`${application.name} runs on one device, and ${name} has ${set.members.length} members: name single devices`);
  const needed = application.footprint(problem);
  if (needed > memory)
    throw new LaunchError(`${application.name} needs ${gibText(needed)} on ${name}, which has ${gibText(memory)}: choose a smaller --gib`);
}

function seconds(since: number): number {
  return (performance.now() - since) / 1e3;
}

function gibText(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(2)} GiB`;
}

async function peaksOf(
  devices: readonly Device[],
  options: CampaignOptions,
  progress: ProgressFactory,
): Promise<ReadonlyMap<Device, Peaks>> {
  const all = new Map<Device, Peaks>();
  for (const device of devices) {
    const task = progress(`measuring ${device.name}`);
    all.set(device, await measurePeaks(device, { repeats: options.quick ? 4 : 10, progress: task.update }));
    task.done();
  }
  return all;
}

/** Targets whose data can be in memory at once are measured together, the others one by one. */
function groupsThatFit(application: Application, targets: readonly Target[], problem: ProblemOptions): Target[][] {
  const needed = application.footprint(problem);
  const groups: Target[][] = [];
  for (const target of targets) {
    const group = groups.find((g) => {
      const neighbours = g.filter((other) => other.sharesMemoryWith(target));
      return (neighbours.length + 1) * needed <= Math.min(...[target, ...neighbours].map(({ memory }) => memory));
    });
    if (group) group.push(target);
    else groups.push([target]);
  }
  return groups;
}

type RunKey = Pick<Run, "application" | "platform" | "problem">;

/** One application on one set of devices, with what its runs gave. */
class Trial {
  private readonly runs: Run[] = [];
  private readonly verdicts = new Map<string, Validation>();

  constructor(
    private readonly target: Target,
    private readonly prepared: PreparedApplication,
    private readonly application: string,
    private readonly precision: Precision,
  ) {}

  /** Runs and validates; run 0 warms up, and a wrong one is reported but does not count. */
  async run(run: number): Promise<void> {
    const { key } = this;
    const samples = await this.prepared.run();
    const { ok, maxError, against } = await this.prepared.validate();
    const before = this.verdicts.get(against);
    this.verdicts.set(against, {
      ...key,
      against,
      ok: ok && (before?.ok ?? true),
      maxError: Math.max(maxError, before?.maxError ?? 0),
    });
    if (run > 0 && ok) this.runs.push(...samples.map((sample) => ({ ...key, run, ...sample })));
  }

  evidence(): Evidence {
    const { grid, layout, occ, choices } = this.prepared.report?.() ?? {};
    const setting = { ...this.key, devices: this.target.name, precision: this.precision, grid, layout, occ, choices } as Setting;
    return { host: [], devices: [], runs: this.runs, validation: [...this.verdicts.values()], settings: [setting] };
  }

  private get key(): RunKey {
    return { application: this.application, platform: this.target.platform, problem: this.prepared.problem };
  }

  free(): void {
    this.prepared.free();
  }
}

/** A device that cannot run an application. */
interface Refusal {
  readonly codePath: string;
  readonly target: Target;
  readonly error: DeviceError | EmitError;
}

const missingOf = ({ codePath, target, error }: Refusal, problem: string): Missing => ({
  application: codePath,
  platform: target.platform,
  problem,
  devices: target.name,
  reason: error.message,
});

async function measureTogether(
  application: Application,
  targets: readonly Target[],
  problem: ProblemOptions,
  limits: { repeats: number; seconds: number },
  progress: ProgressFactory,
): Promise<{ evidence: Evidence[]; refusals: Refusal[] }> {
  const { repeats } = limits;
  const started = performance.now();
  const task = progress(application.name);
  const trials = new Map<Target, Trial>();
  const refusals: Refusal[] = [];
  const steps = targets.length * (repeats + 2);
  let step = 0;
  const onTarget = async (target: Target, what: string, work: () => Promise<void>): Promise<void> => {
    task.update(step++, steps, `${what} on ${target.name}`);
    try {
      await work();
    } catch (error) {
      if (!(error instanceof DeviceError || error instanceof EmitError)) throw error;
      refusals.push({ codePath: codePath(target, problem), target, error });
      trials.get(target)?.free();
      trials.delete(target);
    }
  };
  try {
    for (const target of targets)
      await onTarget(target, "preparing", async () => {
        const precision = problem.precision ?? target.devices[0].precision;
        trials.set(target, new Trial(target, await application.prepare(target.set, problem), codePath(target, problem), precision));
      });
    for (let run = 0; run <= repeats && (run <= FEWEST_REPEATS || seconds(started) < limits.seconds); run++)
      for (const [target, trial] of trials)
        await onTarget(target, run === 0 ? "warming up" : `run ${run} of ${repeats}`, () => trial.run(run));
    return { evidence: [...trials.values()].map((trial) => trial.evidence()), refusals };
  } finally {
    for (const trial of trials.values()) trial.free();
    task.done();
  }
}

/** The application's name in an assessment: strict mode, another kind of grid, layout or overlap, and tuned launches are other code paths. */
function codePath({ codePath, devices }: Target, problem: ProblemOptions): string {
  const others = (["grid", "layout", "occ"] as const).flatMap((option) => {
    const value = problem[option];
    return value === undefined || value === DEFAULT_SETTINGS[option] ? [] : [value === "auto" ? `auto-${option}` : value];
  });
  const tuned = devices.some(({ tuning }) => tuning.measuring) ? ["tuned"] : [];
  return ["isoform", codePath, ...(problem.precision === "strict" ? ["strict"] : []), ...others, ...tuned].join("-");
}
