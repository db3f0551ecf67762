import type { Precision } from "../../device/device.js";
import { reductionTraffic } from "../../domain/container/reduction-traffic.js";
import { spansProcesses, type DeviceSet } from "../../set/index.js";
import type { OccLevel } from "../plan/occ.js";
import { getOrMake } from "../entry.js";
import type { Derived } from "../plan/nodes.js";
import { exchanged, type Plan, type Stages } from "../plan/plan.js";
import type { Executor } from "../run/executor.js";
import type { Explained } from "./explain.js";

/** Properties of a skeleton to explain. */
interface Asked {
  readonly name: string;
  readonly set: DeviceSet;
  readonly precision: Precision;
  readonly occ: OccLevel | "auto";
  /** The next one. */
  readonly iteration: number;
  /** Measured seconds. */
  readonly choices: readonly {
    readonly of: "storage" | "occ";
    readonly best: string;
    readonly seconds: Readonly<Record<string, number>>;
  }[];
}

/** For each kind of iterations, the next one's first: the plan that runs first, and the plan of the steady state to which they lead. */
export function explainedOf({ name, set, precision, occ, choices, iteration }: Asked, executor: Executor, unrolled: number): Explained[] {
  const level = occ === "auto" ? "standard" : occ;
  const cycle = executor.cycle(unrolled, iteration);
  const used = new Map([...cycle.keys()].map((stages) => [stages, executor.used(stages)]));
  const plans = new Map<string, Plan>();
  const [first, steady] = [new Map<Stages, Plan>(), new Map<Stages, Plan>()];
  let fresh = new Set([...used.values()].flatMap(({ derived }) => derived).filter((of) => of.coherent));
  const length = [...cycle.values()].reduce((sum, { count }) => sum + count, 0);
  const seen = new Set<string>();
  for (let isSteady = false; !isSteady;) {
    isSteady = seen.has(namesOf(fresh));
    seen.add(namesOf(fresh));
    for (let n = 0; n < length; n++) {
      const stages = executor.stagesOf(unrolled, iteration + n * unrolled);
      const { derived, written } = used.get(stages)!;
      const atStart = new Set(derived.filter((of) => fresh.has(of)));
      const key = `${[...cycle.keys()].indexOf(stages)} ${namesOf(atStart)}`;
      const plan = getOrMake(plans, key, () => executor.plan(stages, level, atStart));
      getOrMake(first, stages, () => plan);
      steady.set(stages, plan);
      for (const of of [...written, ...derived]) fresh.delete(of);
      for (const of of derived) if (plan.fresh.has(of)) fresh.add(of);
      fresh = exchanged(fresh, stages.swaps);
    }
  }
  return [...cycle].map(([stages, { first: number, count }]) => ({
    name,
    set: set.name,
    precision,
    iterations: length === 1 ? undefined : `such as iteration ${number}: ${count} of ${length} plans`,
    first: first.get(stages)!,
    steady: steady.get(stages)!,
    carried: carriedText(set),
    traffic: trafficOf(steady.get(stages)!, set, precision),
    particles: particlesOf(steady.get(stages)!, set),
    remarks: [
      ...(occ === "auto" ? ["the level of overlap will be chosen in the first run; shown is standard"] : []),
      ...choices.map(choiceText),
      ...executor.remarks(stages),
    ],
  }));
}

/** The names of what reduces on several members, and what its members send each other, in words. */
function trafficOf({ graph }: Plan, { members, locals }: DeviceSet, precision: Precision): [name: string, traffic: string][] {
  const isDirect = precision === "fast" && members.length === locals.length && locals[0].device.fold !== undefined;
  return graph.nodes.flatMap((node): [string, string][] => {
    const isFold = node.kind === "compute" && node.container.axisFolds !== undefined;
    if ((node.kind !== "collect" && !isFold) || members.length === 1) return [];
    const { rounds, messages, bytes } = reductionTraffic(node.container, precision);
    const unless = isDirect && !isFold ? "; none where the devices reach each other's memory" : "";
    return [[node.name, `${counted(rounds, "round")}, ${counted(messages, "message")}, ${counted(bytes, "byte")}${unless}`]];
  });
}

/** The names of the tasks that send particles, and what they send, in words. */
function particlesOf({ graph }: Plan, set: DeviceSet): [name: string, traffic: string][] {
  return graph.nodes.flatMap((node): [string, string][] => {
    const traffic = node.kind === "move" ? node.species.traffic : undefined;
    if (!traffic || traffic.messages === 0) return [];
    const between = spansProcesses(set) ? " at most: between processes only the particles that leave" : "";
    return [[node.name, `${counted(traffic.messages, "message")}, ${counted(traffic.bytes, "byte")}${between}`]];
  });
}

function carriedText({ carried }: DeviceSet): string | undefined {
  if (!carried) return undefined;
  if (carried.by === "MPI") return `by MPI, through the host: ${carried.why}`;
  const { version, totals } = carried;
  const reductions = totals.by === "IPC" ? "by kernels, which write to each other's memory (CUDA IPC)" : `by NCCL: ${totals.why}`;
  return `by NCCL ${version}, without the host; totals of reductions in fast mode ${reductions}`;
}

const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`;

const namesOf = (fresh: ReadonlySet<Derived>): string =>
  [...fresh]
    .map((of) => of.name)
    .sort()
    .join();

function choiceText({ of, best, seconds }: Asked["choices"][number]): string {
  const times = Object.entries(seconds).map(([name, time]) => `${name} ${(time * 1e6).toFixed(1)} us`);
  return `${of === "occ" ? "OCC" : of} ${best} was the fastest: ${times.join(", ")}`;
}
