import type { Precision } from "../../device/device.js";
import type { DeviceSet } from "../../set/index.js";
import type { OccLevel } from "../plan/occ.js";
import type { Plan } from "../plan/plan.js";
import type { Executor } from "../run/executor.js";
import type { Explained } from "./explain.js";

/** What a skeleton tells of itself. */
interface Asked {
  readonly name: string;
  readonly set: DeviceSet;
  readonly precision: Precision;
  readonly occ: OccLevel | "auto";
  /** What was measured, in seconds. */
  readonly choices: readonly {
    readonly of: "storage" | "occ";
    readonly best: string;
    readonly seconds: Readonly<Record<string, number>>;
  }[];
}

/** The plan of the next iterations, and that of the steady state which they lead to. */
export function explainedOf({ name, set, precision, occ, choices }: Asked, executor: Executor, unrolled: number): Explained {
  const stages = executor.stagesOf(unrolled);
  const first = executor.plan(
    stages,
    occ === "auto" ? "standard" : occ,
    new Set(executor.used(stages).derived.filter((of) => of.coherent)),
  );
  const seen = new Set<string>();
  const key = ({ atStart }: Plan) =>
    [...atStart]
      .map((field) => field.name)
      .sort()
      .join();
  let steady = first;
  while (!seen.has(key(steady))) {
    seen.add(key(steady));
    steady = executor.planAfter(steady);
  }
  const remarks = [
    ...(occ === "auto" ? ["the level of overlap will be chosen in the first run; shown is standard"] : []),
    ...choices.map(choiceText),
    ...executor.remarks(stages),
  ];
  return { name, set: set.name, precision, first, steady, remarks };
}

function choiceText({ of, best, seconds }: Asked["choices"][number]): string {
  const times = Object.entries(seconds).map(([name, time]) => `${name} ${(time * 1e6).toFixed(1)} us`);
  return `${of === "occ" ? "OCC" : of} ${best} was the fastest: ${times.join(", ")}`;
}
