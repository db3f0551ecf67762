import { bestOf, type Cell, isIteration, isTimed, relativeTo, type TimedCell } from "./cells.js";
import { groupBy } from "./group.js";
import { type Estimate, mean } from "./statistics.js";

/** Platforms over which portability is asked. */
export interface PlatformSet {
  name: string;
  platforms: string[];
}

/** Limits of a platform: bytes and floating-point operations a second. */
export interface Roof {
  bandwidth: number;
  flops?: number;
}
/** Limits of platforms, by their names. */
export type Roofs = ReadonlyMap<string, Roof>;

/** The share of what a platform could reach that an application did, with its error. */
export interface PlatformEfficiency extends Estimate {
  platform: string;
}

/** Programs among which the best time of a platform is looked for: `any` that ran there (Pennycook), or those that ran on all of the `set` (Malenza et al.). */
export const YARDSTICKS = ["any", "set"] as const;
/** One of these. */
export type Yardstick = (typeof YARDSTICKS)[number];

/** Pennycook's metric of one application and problem over one set. */
export interface Metric extends Estimate {
  metric: "app" | "arch";
  /** Programs that application efficiencies are measured against. */
  yardstick?: Yardstick;
  setName: string;
  /** Without the platforms on which nobody ran the problem. */
  set: string[];
  problem: string;
  application: string;
  /** On each platform of the set; 0 where the application does not run. */
  efficiencies: PlatformEfficiency[];
  /** The metric over those platforms of the set on which the application runs, and how many they are. */
  supported: Estimate & { platforms: number };
}

/** Share of the roof that one kernel reaches on one platform. */
export interface KernelEfficiency {
  application: string;
  platform: string;
  problem: string;
  quantity: string;
  efficiency: number;
  sigma: number;
}

/** A kernel's efficiency averaged over the platforms of a set (Table V of Malenza et al., TPDS 2025). */
export interface KernelMean extends Omit<KernelEfficiency, "platform"> {
  setName: string;
  set: string[];
}

/**
 * Harmonic mean of efficiencies with its error: Pennycook, Sewall, Lee, FGCS 2019, eq. 1, and Malenza et al., TPDS 2025, eq. 15.
 * It is 0 where one efficiency is 0 (the application does not run there).
 */
export function phi(efficiencies: readonly Estimate[]): Estimate {
  if (efficiencies.some((e) => e.value === 0)) return { value: 0, sigma: 0 };
  const inverses = efficiencies.reduce((total, e) => total + 1 / e.value, 0);
  return {
    value: efficiencies.length / inverses,
    sigma: (efficiencies.length / inverses ** 2) * Math.hypot(...efficiencies.map((e) => e.sigma / e.value ** 2)),
  };
}

/** The yardstick of an application efficiency; files of former versions do not say it. */
export const yardstickOf = ({ yardstick = "set" }: { readonly yardstick?: Yardstick }): Yardstick => yardstick;

/** Metrics that figures and the summary show: application efficiencies by the yardstick that was asked for. */
export const shownMetrics = <M extends { readonly metric: string; readonly yardstick?: Yardstick }>(
  metrics: readonly M[],
  yardstick: Yardstick = "set",
): M[] => metrics.filter((one) => one.metric === "arch" || yardstickOf(one) === yardstick);

/** One problem on the platforms of a set that ran it. */
interface Field {
  setName: string;
  platforms: string[];
  problem: string;
  /** Applications that ran the problem anywhere. */
  applications: string[];
  /** Cells by platform and application. */
  cells: ReadonlyMap<string, ReadonlyMap<string, readonly Cell[]>>;
}

function fieldsOf(cells: readonly Cell[], sets: readonly PlatformSet[]): Field[] {
  const problems = [...groupBy(cells, (c) => c.problem)].map(([problem, ofProblem]) => ({
    problem,
    applications: [...new Set(ofProblem.map((c) => c.application))],
    cells: new Map([...groupBy(ofProblem, (c) => c.platform)].map(([platform, here]) => [platform, groupBy(here, (c) => c.application)])),
  }));
  return sets.flatMap(({ name, platforms }) =>
    problems
      .map((one) => ({ ...one, setName: name, platforms: platforms.filter((platform) => one.cells.has(platform)) }))
      .filter((field) => field.platforms.length > 0),
  );
}

const cellsAt = ({ cells }: Field, application: string, platform: string): readonly Cell[] => cells.get(platform)?.get(application) ?? [];

/** Efficiency of an application on a platform; undefined if it ran but was not measured for this metric. */
type Efficiency = (application: string, platform: string) => Estimate | undefined;

/**
 * Application efficiency and its Phi: t_min / t, or mean / best mean of figures of merit where higher is better. The best on each platform is taken from all
 * applications that ran there, or, with the yardstick `set`, from the ones that run on every platform of the set. Applications without iterations on a
 * platform that they ran on have no metric.
 */
export function applicationMetrics(cells: readonly Cell[], sets: readonly PlatformSet[], yardstick: Yardstick): Metric[] {
  return fieldsOf(cells, sets).flatMap((field) =>
    metricsOf("app", field, (within) => applicationEfficiency(within, yardstick)).map((one) => ({ ...one, yardstick })),
  );
}

function applicationEfficiency(field: Field, yardstick: Yardstick): Efficiency {
  const iterationOf = (application: string, platform: string) => cellsAt(field, application, platform).find(isIteration);
  const everywhere = yardstick === "set" ? field.applications.filter((a) => field.platforms.every((p) => iterationOf(a, p))) : [];
  // Compares with the applications that run here if none runs everywhere: every Phi is 0 then.
  const candidates = everywhere.length ? everywhere : field.applications;
  const best = new Map(
    field.platforms.map((platform) => [platform, candidates.map((a) => iterationOf(a, platform)).filter((c) => c !== undefined)]),
  );
  return (application, platform) => {
    const own = iterationOf(application, platform);
    return own && relativeTo(bestOf(best.get(platform)!), own);
  };
}

/**
 * Architectural efficiency and its Phi: the time that the roofs allow for all kernels over the time that they took,
 * sum_k max(bytes_k / BW, flops_k / F) / sum_k t_k. For memory-bound kernels that is the time-weighted mean of eqs. 11 to 13 of
 * Malenza et al., TPDS 2025. Applications whose kernels have no byte counts have no metric.
 */
export function architectureMetrics(cells: readonly Cell[], sets: readonly PlatformSet[], roofs: Roofs): Metric[] {
  const efficiencyIn =
    (field: Field): Efficiency =>
    (application, platform) => {
      const roof = roofs.get(platform);
      const kernels = cellsAt(field, application, platform).filter(isCounted);
      if (!roof || kernels.length === 0) return undefined;
      const taken = kernels.reduce((total, c) => total + c.seconds.value, 0);
      const allowed = kernels.reduce((total, c) => total + allowedSeconds(c, roof), 0);
      return { value: allowed / taken, sigma: (allowed / taken ** 2) * Math.hypot(...kernels.map((c) => c.seconds.sigma)) };
    };
  return fieldsOf(cells, sets).flatMap((field) => metricsOf("arch", field, efficiencyIn));
}

function metricsOf(metric: Metric["metric"], field: Field, efficiencyIn: (field: Field) => Efficiency): Metric[] {
  const efficiencyOf = efficiencyIn(field);
  return field.applications.flatMap((application) => {
    const { platforms } = field;
    const runsOn = platforms.filter((platform) => cellsAt(field, application, platform).length > 0);
    const efficiencies = runsOn.map((platform) => efficiencyOf(application, platform));
    // Pennycook's yardstick is the best time of each platform: over fewer platforms there are more applications to be measured against.
    const there = efficiencyIn({ ...field, platforms: runsOn });
    const own = runsOn.map((platform) => there(application, platform));
    if (!allDefined(efficiencies) || !allDefined(own)) return [];
    const all = platforms.map((platform): PlatformEfficiency => {
      const n = runsOn.indexOf(platform);
      return { platform, ...(n < 0 ? { value: 0, sigma: 0 } : efficiencies[n]) };
    });
    return [
      {
        metric,
        setName: field.setName,
        set: platforms,
        problem: field.problem,
        application,
        ...phi(all),
        efficiencies: all,
        supported: { platforms: runsOn.length, ...(runsOn.length > 0 ? phi(own) : { value: 0, sigma: 0 }) },
      },
    ];
  });
}

const allDefined = <T>(list: readonly (T | undefined)[]): list is readonly T[] => list.every((item) => item !== undefined);

type CountedCell = TimedCell & { bytes: number };

function isCounted(cell: Cell): cell is CountedCell {
  return !isIteration(cell) && isTimed(cell) && cell.bytes !== undefined;
}

function allowedSeconds(cell: CountedCell, roof: Roof): number {
  return Math.max(cell.bytes / roof.bandwidth, cell.flops && roof.flops ? cell.flops / roof.flops : 0);
}

/** Every counted kernel against its platform's roofs (eq. 11); platforms without a roof are left out. */
export function kernelEfficiencies(cells: readonly Cell[], roofs: Roofs): KernelEfficiency[] {
  return cells.filter(isCounted).flatMap((cell) => {
    const roof = roofs.get(cell.platform);
    if (!roof) return [];
    const { application, platform, problem, quantity, seconds } = cell;
    const efficiency = allowedSeconds(cell, roof) / seconds.value;
    return [{ application, platform, problem, quantity, efficiency, sigma: (efficiency * seconds.sigma) / seconds.value }];
  });
}

/** Arithmetic mean of each kernel's efficiencies over a set, for the applications that ran it on all of the set. */
export function kernelMeans(kernels: readonly KernelEfficiency[], sets: readonly PlatformSet[]): KernelMean[] {
  return sets.flatMap(({ name, platforms }) => {
    const cells = [...groupBy(kernels, (k) => JSON.stringify([k.problem, k.quantity, k.application])).values()];
    return cells.flatMap((group) => {
      const { problem, quantity, application } = group[0];
      const set = platforms.filter((p) => kernels.some((k) => k.problem === problem && k.platform === p));
      const members = group.filter((k) => set.includes(k.platform));
      if (members.length === 0 || members.length < set.length) return [];
      return [
        {
          setName: name,
          set,
          problem,
          quantity,
          application,
          efficiency: mean(members.map((k) => k.efficiency)),
          sigma: Math.hypot(...members.map((k) => k.sigma)) / members.length,
        },
      ];
    });
  });
}
