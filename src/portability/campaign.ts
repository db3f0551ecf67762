import type { Device, OpenOptions } from "../device/device.js";
import type { GridSettings } from "../skeleton/settings.js";
import { DeviceError, IsoformError } from "../base/errors.js";
import type { Application, ProblemOptions, ProgressFactory } from "./application.js";
import type { Evidence } from "./assessment.js";
import { codePathsOf, misfitOf, type CodePath, type Misfit } from "./code-paths.js";
import type { CountersTools } from "./counters/measure.js";
import { findNcu } from "./counters/ncu.js";
import { countersOfPaths } from "./counters/paths.js";
import { groupBy } from "./group.js";
import { hardwareOf, hostPlatform, platformOf, thisMachine } from "./machine.js";
import { measurePeaks, type Peaks } from "./measure.js";
import { merge } from "./merge.js";
import { portDevice, portOf, type Port } from "./ports/names.js";
import { openDeviceOrPort } from "./ports/open-device.js";
import type { Missing } from "./schema.js";
import { selfTest } from "./self-test.js";
import { Stopped, unlessStopped } from "./stop.js";
import { AssessedTarget } from "./target.js";
import { contestantOf, FEWEST_REPEATS, measureTogether, missingOf, reasonOf, type Contestant, type Refusal } from "./trials.js";
import { handWritten } from "./handwritten/contestant.js";

/** Subjects of a campaign, its devices, and the number of repeats. */
export interface CampaignOptions extends Partial<GridSettings>, OpenOptions {
  /** Sets of devices, each measured by itself: `wasm`, `wasm*3`, `cuda:0+cuda:1`. Default: every device of this machine. */
  devices?: readonly string[];
  /** Emitted files that are measured as well. */
  ports?: readonly Port[];
  /** Runs that count; one more before warms up. */
  repeats: number;
  gib?: number;
  iterations?: number;
  quick?: boolean;
  /** Form of applications with several, `fastest` or `all`. Default: the first and the fastest. */
  form?: string;
  /** Unknowns of the global section, of applications with one. Default: 0. */
  globals?: ProblemOptions["globals"];
  /** Counts by ncu what kernels on NVIDIA's GPUs move. */
  counters?: Pick<CountersTools, "program">;
  /** Hand-written programs are measured beside the applications, where there are some and a compiler: yes unless false. */
  handwritten?: boolean;
  /**
   * Time for everything, shared out among the applications. When one's share is over, its repeats end, but not before three; where the
   * spread is small, they end earlier; and slow devices do fewer iterations in a run.
   */
  seconds?: number;
  /** Ends the campaign: what is finished by then is kept, and the rest is listed as missing. */
  stop?: AbortSignal;
}

/** How devices are found: the registry of backends, or a stand-in. */
export interface Registry {
  names(options?: OpenOptions): Promise<string[]>;
  /** Devices of this machine that are not among these names, and why. */
  leftOut?(options?: OpenOptions): Promise<LeftOut[]>;
  open(name: string, options?: OpenOptions): Promise<Device>;
  /** Throws where the device computes wrongly: nothing is measured there. */
  check?(device: Device): Promise<void>;
}

interface LeftOut {
  readonly name: string;
  readonly backend: string;
  readonly platform: string;
  readonly reason: string;
  /** It should have been there. */
  readonly failed?: boolean;
}

/** A target on which nothing runs any more. */
interface Lost {
  readonly target: AssessedTarget;
  readonly error: unknown;
  readonly failed?: boolean;
}

/** Iterations of one run, if time is short and nobody asked for more. */
const FEW_ITERATIONS = 5;
/** For the repeats of one measurement of a peak, where time is short. */
const PEAK_SECONDS = 0.3;

/**
 * Runs applications on devices and measures the devices' peaks. The repeats of an application alternate between the devices, so that a
 * change in the machine's load affects them all. A run counts only if its result is valid. What fails on one device is listed as missing there with
 * its reason, and the others go on; where nothing ran at all because an application refused it everywhere, the first one's error is thrown.
 * Throws DeviceError for a device that was named and cannot be opened, LaunchError for a problem that does not fit the devices and for options
 * that an application does not have, Stopped where it was stopped before there was anything to tell.
 */
export async function measureApplications(
  applications: readonly Application[],
  options: CampaignOptions,
  progress: ProgressFactory,
  registry: Registry = installed,
): Promise<Evidence> {
  const started = performance.now();
  const { stop } = options;
  if (options.counters) findNcu();
  const leftOut = options.devices ? [] : [...((await registry.leftOut?.({ f64: options.f64 })) ?? [])];
  const opened = new Map<string, Device>();
  try {
    const targets = await openTargets(options, registry, opened, leftOut);
    const { gib, precision, quick, grid, layout, occ, form, globals } = options;
    const iterations = options.iterations ?? (options.seconds && FEW_ITERATIONS);
    const problem: ProblemOptions = { gib, precision, quick, iterations, grid, layout, occ, form, globals };
    const paths = codePathsOf(applications, targets, problem);
    const misfits = paths.flatMap((path) => misfitOf(path) ?? []);
    const fitting = paths.filter((path) => !misfits.some((misfit) => misfit.path === path));
    const suited = targets.filter((target) => fitting.some((path) => path.target === target));
    // Other forms of an application may fit where one does not.
    const homeless = misfits.find(({ path }) => !fitting.some((each) => isSame(each, path)));
    if (homeless && (options.devices !== undefined || suited.length === 0)) throw homeless.error;
    const counters = options.counters ? await countersOfPaths(fitting, { ...options.counters, stop }, progress) : [];
    const lost: Lost[] = [];
    const first = await peaksOf(suited, options, progress, registry, lost);
    const sound = suited.filter((target) => !lost.some((each) => each.target === target));
    const parts: Evidence[] = [];
    const refusals: Refusal[] = [];
    const missing: Missing[] = [];
    const repeats = quick ? Math.min(FEWEST_REPEATS, options.repeats) : options.repeats;
    for (const [n, application] of applications.entries()) {
      // Passes on time that one application has left over to the next ones.
      const share = ((options.seconds ?? Infinity) - seconds(started)) / (applications.length - n);
      const able = fitting.filter((path) => path.application === application && sound.includes(path.target));
      const contestants = able.map(contestantOf);
      if (options.handwritten !== false)
        contestants.push(...handWritten(application, [...new Set(able.map(({ target }) => target))], { ...problem, form: undefined }));
      const groups = groupsThatFit(contestants);
      const ran: Evidence[] = [];
      const refused = refusalsOf(
        paths.filter((path) => path.application === application),
        misfits,
        lost,
      );
      for (const group of groups) {
        const limits = { repeats, seconds: share / groups.length, iterations: options.seconds && iterations, stop };
        const measured = await measureTogether(application.name, group, limits, progress);
        ran.push(...measured.evidence);
        refused.push(...measured.refusals);
      }
      const name = ran[0]?.settings?.[0].problem ?? application.name;
      missing.push(...refused.map((refusal) => missingOf(refusal, name)));
      for (const { name: devices, backend, platform, reason, failed } of leftOut)
        missing.push({ application: `isoform-${backend}`, platform, problem: name, devices, reason, ...(failed && { failed }) });
      refusals.push(...refused);
      parts.push(...ran);
    }
    if (stop?.aborted && parts.length === 0) throw new Stopped();
    if (parts.length === 0 && lost.length === 0 && refusals.every(({ error }) => error instanceof IsoformError))
      for (const { error } of refusals) throw error;
    // Once more, for what disturbed the first measurement may be over, and a peak is the most that was ever seen.
    const later = quick ? first : await peaksOf(sound, options, progress, registry, [], options.seconds ? leaders(first) : undefined);
    const both = (device: Device) => [first, later].flatMap((found) => found.get(device) ?? []);
    const all = { host: [thisMachine()], devices: sound.map((t) => t.assessed(both)), runs: [], validation: [], counters, missing };
    return merge([...parts, all]);
  } finally {
    // Keeps devices open that work in progress still uses when it was stopped.
    if (!stop?.aborted) await Promise.allSettled([...opened.values()].map((device) => device.close()));
  }
}

/** The named devices, or all of this machine; devices that cannot be opened are left out. */
async function openTargets(
  { devices, ports = [], f64 }: CampaignOptions,
  registry: Registry,
  opened: Map<string, Device>,
  leftOut: LeftOut[],
): Promise<AssessedTarget[]> {
  const open = async (name: string): Promise<Device> => {
    const device = opened.get(name) ?? (await registry.open(name, { f64 }));
    opened.set(name, device);
    return device;
  };
  const targets: AssessedTarget[] = [];
  for (const name of [...(devices ?? (await registry.names({ f64 }))), ...ports.map(portDevice)])
    try {
      targets.push(await AssessedTarget.open(name, open));
    } catch (error) {
      const port = portOf(name);
      if (devices !== undefined && port === undefined) throw error;
      if (port !== undefined) leftOut.push(refusedPort(port, error));
      else leftOut.push({ name, backend: name.split(":")[0], platform: name, reason: reasonOf(error), failed: true });
    }
  return targets;
}

/** A port that cannot be had here is not a failure: others go on. */
const refusedPort = (port: Port, error: unknown): LeftOut => ({
  name: portDevice(port),
  backend: portDevice(port),
  platform: port === "cuda" || port === "hip" ? portDevice(port) : hostPlatform(),
  reason: reasonOf(error),
  ...(!(error instanceof DeviceError) && { failed: true }),
});

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
    const reason = "it has no f64; --f64 emulate uses the sum of two f32 instead";
    return (await doctor()).flatMap(({ backend, devices }) =>
      devices
        .filter(({ capabilities }) => !capabilities.f64)
        .map(({ name, label }) => ({ name, backend, platform: hardwareOf(label), reason })),
    );
  },
  check: selfTest,
  open: openDeviceOrPort,
};

function seconds(since: number): number {
  return (performance.now() - since) / 1e3;
}

/** On each platform the devices that reach the most: its roofs are theirs. */
function leaders(peaks: ReadonlyMap<Device, Peaks>): ReadonlySet<Device> {
  const best = (group: readonly (readonly [Device, Peaks])[], of: (peaks: Peaks) => number) =>
    group.reduce((most, each) => (of(each[1]) > of(most[1]) ? each : most))[0];
  const groups = [...groupBy([...peaks], ([device]) => platformOf(device)).values()];
  return new Set(groups.flatMap((group) => [best(group, ({ bandwidth }) => bandwidth), best(group, ({ flops }) => flops ?? 0)]));
}

/**
 * Peaks of all devices that compute correctly; a target with a failing device is dropped.
 * @param only these devices, if not all
 */
async function peaksOf(
  targets: readonly AssessedTarget[],
  { quick, seconds, stop }: CampaignOptions,
  progress: ProgressFactory,
  registry: Registry,
  lost: Lost[],
  only?: ReadonlySet<Device>,
): Promise<ReadonlyMap<Device, Peaks>> {
  const all = new Map<Device, Peaks>();
  for (const target of targets)
    for (const device of target.devices) {
      if (all.has(device) || only?.has(device) === false || stop?.aborted) continue;
      const task = progress(`measuring ${device.name}`);
      try {
        await unlessStopped(stop, async () => {
          await registry.check?.(device);
          all.set(device, await measurePeaks(device, { repeats: quick ? 2 : 10, seconds: seconds && PEAK_SECONDS, progress: task.update }));
        });
      } catch (error) {
        if (!(error instanceof Stopped)) lost.push({ target, error, failed: true });
      } finally {
        task.done();
      }
    }
  return all;
}

/** Whether two code paths differ in their form alone. */
const isSame = (a: CodePath, b: CodePath): boolean => a.application === b.application && a.target === b.target;

/** Code paths that do not fit, and targets that were lost: these once, whatever the forms. */
function refusalsOf(paths: readonly CodePath[], misfits: readonly Misfit[], lost: readonly Lost[]): Refusal[] {
  const tooLarge = misfits
    .filter(({ path }) => paths.includes(path))
    .map(({ path, error }) => ({ contestant: contestantOf(path), error, failed: false }));
  const ofLost = lost.flatMap(({ target, error, failed = false }) => {
    const path = paths.find((each) => each.target === target);
    return path ? [{ contestant: contestantOf(path), error, failed }] : [];
  });
  return [...tooLarge, ...ofLost];
}

/** Groups of contestants whose data can be in memory at once are measured together, the others one by one. */
function groupsThatFit(contestants: readonly Contestant[]): Contestant[][] {
  const groups: Contestant[][] = [];
  for (const contestant of contestants) {
    const { target } = contestant;
    const group = groups.find((g) => {
      const neighbours = g.filter((other) => other.target.sharesMemoryWith(target));
      const all = [contestant, ...neighbours];
      return all.reduce((total, { bytes }) => total + bytes, 0) <= Math.min(...all.map((each) => each.target.memory));
    });
    if (group) group.push(contestant);
    else groups.push([contestant]);
  }
  return groups;
}
