import type { Device, Precision } from "../device/device.js";
import { LaunchError } from "../kernel/errors.js";
import type { Application, PreparedApplication, ProblemOptions, Progress } from "./application.js";
import type { Evidence } from "./assessment.js";
import { platformOf, thisMachine } from "./machine.js";
import { measurePeaks, type Peaks } from "./measure.js";
import { merge } from "./merge.js";
import type { Run } from "./metric.js";
import type { AssessedDevice, Validation } from "./schema.js";

export interface CampaignOptions {
  /** Names of devices; every one of this machine where absent. */
  devices?: readonly string[];
  /** Runs that count; one more before warms up. */
  repeats: number;
  gib?: number;
  iterations?: number;
  precision?: Precision;
  quick?: boolean;
  /** Time for all runs, shared out among the applications: when one's share is over, its repeats end, but not before three. */
  seconds?: number;
}

export type ProgressFactory = (label: string) => { update: Progress; done(): void };

/** How devices are found: the registry of backends, or a stand-in. */
export interface Registry {
  names(): Promise<string[]>;
  open(name: string): Promise<Device>;
}

/** Enough for a mean and its error, of a quick look or where time is short. */
const FEWEST_REPEATS = 3;
/** Of one run, where time is short and nobody asked for more. */
const FEW_ITERATIONS = 5;

/**
 * Runs applications on devices and measures the devices' peaks. The repeats of an application go round the devices, so that a change
 * of the machine's mood meets them all. A run counts only if its result is valid.
 * Throws DeviceError for a device that cannot be opened, LaunchError for a problem that does not fit a device.
 */
export async function measureApplications(
  applications: readonly Application[],
  options: CampaignOptions,
  progress: ProgressFactory,
  registry: Registry = installed,
): Promise<Evidence> {
  const started = performance.now();
  const names = options.devices ?? (await registry.names());
  const devices: Device[] = [];
  try {
    for (const name of names) devices.push(await registry.open(name));
    const { gib, precision, quick } = options;
    const problem: ProblemOptions = { gib, precision, quick, iterations: options.iterations ?? (options.seconds && FEW_ITERATIONS) };
    for (const application of applications) for (const device of devices) checkFits(application, device, problem);
    const peaks = await peaksOf(devices, options, progress);
    const parts: Evidence[] = [];
    const repeats = quick ? Math.min(FEWEST_REPEATS, options.repeats) : options.repeats;
    const share = ((options.seconds ?? Infinity) - seconds(started)) / applications.length;
    for (const application of applications) {
      const groups = groupsThatFit(application, devices, problem);
      for (const group of groups)
        parts.push(...(await measureTogether(application, group, problem, { repeats, seconds: share / groups.length }, progress)));
    }
    // Once more, for what disturbed the first measurement may be over, and a peak is the most that was ever seen.
    const later = quick ? peaks : await peaksOf(devices, options, progress);
    const assessed = devices.map((device, i) => assessedDevice(device, peaks[i], later[i]));
    return { ...merge(parts), host: [thisMachine()], devices: assessed };
  } finally {
    await Promise.all(devices.map((device) => device.close()));
  }
}

const installed: Registry = {
  /** js-debug checks every access, so its times say nothing. */
  async names() {
    const { doctor } = await import("../device/open.js");
    return (await doctor()).flatMap((report) => report.devices.map((d) => d.name)).filter((name) => name !== "js-debug");
  },
  async open(name) {
    const { open } = await import("../device/open.js");
    return open(name);
  },
};

function checkFits(application: Application, device: Device, problem: ProblemOptions): void {
  const needed = application.footprint(problem);
  const { memory } = device.abilities;
  if (needed > memory)
    throw new LaunchError(
      `${application.name} needs ${gibText(needed)} on ${device.name}, which has ${gibText(memory)}: choose a smaller --gib`,
    );
}

function seconds(since: number): number {
  return (performance.now() - since) / 1e3;
}

function gibText(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(2)} GiB`;
}

async function peaksOf(devices: readonly Device[], options: CampaignOptions, progress: ProgressFactory): Promise<Peaks[]> {
  const all: Peaks[] = [];
  for (const device of devices) {
    const task = progress(`measuring ${device.name}`);
    all.push(await measurePeaks(device, { repeats: options.quick ? 4 : 10, progress: task.update }));
    task.done();
  }
  return all;
}

function assessedDevice(device: Device, ...peaks: Peaks[]): AssessedDevice {
  return {
    name: device.name,
    platform: platformOf(device),
    backend: device.backend,
    label: device.label,
    parallelism: device.abilities.parallelism,
    peakBandwidth: Math.max(...peaks.map((p) => p.bandwidth)),
    peakFlops: Math.max(...peaks.map((p) => p.flops ?? 0)) || null,
    theoretical: device.theoretical,
    source: "measured",
  };
}

/** Devices whose data can be in memory at once are measured together, the others one by one. */
function groupsThatFit(application: Application, devices: readonly Device[], problem: ProblemOptions): Device[][] {
  const needed = application.footprint(problem);
  const groups: Device[][] = [];
  for (const device of devices) {
    const group = groups.find((g) => {
      const neighbours = g.filter((d) => d.memory === device.memory);
      return (neighbours.length + 1) * needed <= Math.min(...[device, ...neighbours].map((d) => d.abilities.memory));
    });
    if (group) group.push(device);
    else groups.push([device]);
  }
  return groups;
}

/** One application on one device, with what its runs gave. */
class Trial {
  private readonly runs: Run[] = [];
  private readonly verdicts = new Map<string, Validation>();

  constructor(
    readonly device: Device,
    private readonly prepared: PreparedApplication,
    private readonly application: string,
  ) {}

  /** Runs and validates; run 0 warms up, and a wrong one is told but does not count. */
  async run(run: number): Promise<void> {
    const place = { application: this.application, platform: platformOf(this.device), problem: this.prepared.problem };
    const samples = await this.prepared.run();
    const { ok, maxError, against } = await this.prepared.validate();
    const before = this.verdicts.get(against);
    this.verdicts.set(against, {
      ...place,
      against,
      ok: ok && (before?.ok ?? true),
      maxError: Math.max(maxError, before?.maxError ?? 0),
    });
    if (run > 0 && ok) this.runs.push(...samples.map((sample) => ({ ...place, run, ...sample })));
  }

  evidence(): Evidence {
    return { host: [], devices: [], runs: this.runs, validation: [...this.verdicts.values()] };
  }

  free(): void {
    this.prepared.free();
  }
}

async function measureTogether(
  application: Application,
  devices: readonly Device[],
  problem: ProblemOptions,
  limits: { repeats: number; seconds: number },
  progress: ProgressFactory,
): Promise<Evidence[]> {
  const { repeats } = limits;
  const started = performance.now();
  const task = progress(application.name);
  const trials: Trial[] = [];
  const steps = devices.length * (repeats + 2);
  let step = 0;
  const advance = (device: Device, what: string) => task.update(step++, steps, `${what} on ${device.name}`);
  try {
    for (const device of devices) {
      advance(device, "preparing");
      trials.push(new Trial(device, await application.prepare(device, problem), codePath(device, problem.precision)));
    }
    for (let run = 0; run <= repeats && (run <= FEWEST_REPEATS || seconds(started) < limits.seconds); run++)
      for (const trial of trials) {
        advance(trial.device, run === 0 ? "warming up" : `run ${run} of ${repeats}`);
        await trial.run(run);
      }
  } finally {
    for (const trial of trials) trial.free();
    task.done();
  }
  return trials.map((trial) => trial.evidence());
}

/** The application's name in an assessment: strict mode is another code path than fast mode. */
function codePath({ backend }: Device, precision: Precision | undefined): string {
  return precision === "strict" ? `isoform-${backend}-strict` : `isoform-${backend}`;
}
