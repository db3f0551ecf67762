import { jsonText } from "../../base/json.js";
import { dependsOnOrder } from "../../ir/atomic.js";
import { unreachable } from "../../base/unreachable.js";
import { derive } from "../../cache/derive.js";
import { orderMatters } from "../../ir/identity.js";
import { TUNING_NAMES, tuningText, type Tunables, type Tuning } from "../../ir/tuning.js";
import type { KernelIR } from "../../ir/types.js";
import { LaunchError } from "../../base/errors.js";
import type { Params } from "../../kernel/declare/params.js";
import type { Device, DeviceTuning, Launch, LaunchOptions, LaunchTraits, TuningOfLaunch } from "../device.js";
import type { Binding } from "../launch/binding.js";
import { tune } from "./tune.js";
import type { Chosen, Measured, TuningFile } from "../launch/chosen.js";
import type { View } from "../memory/view.js";

export type { Chosen, Measured, Tunables, Tuning, TuningFile };

/** Fast launches in the order of strict mode: what else depends on measurements, such as which products are contracted, must stay as it is, too. */
const fixedOrder = ({ ordered, precision }: Pick<LaunchTraits, "ordered" | "precision">): boolean => ordered && precision === "fast";

const DEFAULT: Chosen = { from: "default", values: {} };

/** Tuning of one device's launches: the user's own values, and values measured in this process. */
export class TuningTable implements DeviceTuning {
  /** `tune` and skeletons measure launches for which nothing is known, on first use. */
  measuring = false;
  private readonly overrides = new Map<string, Chosen>();
  private readonly measured = new Map<string, Measured>();

  /** Sets the values of all launches of one kernel that are prepared from now on; they win over what is measured. */
  set(kernel: string, values: Tuning): void {
    this.overrides.set(kernel, { from: "device", values });
  }

  /** Takes the sections of a file for this device: its backend's, then its own. */
  use(file: TuningFile, { name, backend }: { readonly name: string; readonly backend: string }): void {
    for (const section of new Set([backend, name]))
      for (const [kernel, values] of Object.entries(file[section] ?? {})) this.overrides.set(kernel, { from: "file", values });
  }

  /** Keeps what was found for launches like this one. */
  note(launch: Pick<TuningOfLaunch, "key">, found: Measured): void {
    this.measured.set(launch.key, found);
  }

  isDefault(kernel: string): boolean {
    return !this.measuring && this.measured.size === 0 && !this.overrides.has(kernel);
  }

  /** The launch's own values, else the user's, else measured ones. */
  choose(checked: LaunchTraits, options: LaunchOptions): Chosen {
    if (options.tuning) return { from: "launch", values: options.tuning };
    const override = this.overrides.get(checked.kernel.name);
    if (override) return override;
    const found = this.measured.size > 0 && !fixedOrder(checked) ? this.measured.get(keyOf(checked, options)) : undefined;
    return found ? { from: "measured", ...found } : DEFAULT;
  }
}

/** The tuning of one launch: what it was given, and what else it could be given. */
export class LaunchTuning implements TuningOfLaunch {
  private readonly chosen: Chosen;

  /**
   * @param ways parameters of this launch and what they may be, found when they are needed
   * @throws LaunchError if the launch was given others
   */
  constructor(
    private readonly binding: Binding,
    private readonly ways: () => Tunables,
  ) {
    const { tuning, kernel, call } = binding;
    const problem = tuning.from === "default" ? undefined : problemOf(tuning.values, ways());
    if (problem && tuning.from !== "measured") throw new LaunchError(`kernel "${kernel.name}" on ${call.device.name}, tuning: ${problem}`);
    // Falls back to the default if values measured on launches of the same kind are not possible here.
    this.chosen = problem ? DEFAULT : tuning;
  }

  get values(): Tuning {
    return this.chosen.values;
  }

  get from(): Chosen["from"] {
    return this.chosen.from;
  }

  get tunables(): Tunables {
    return this.ways();
  }

  /** Whether measured values may be used. A launch that prints does so once, and old values of atomic arrays make each run another one. */
  get measurable(): boolean {
    const { ir } = this.binding;
    const isAlike = !ir.prints && dependsOnOrder(ir) === undefined;
    return isAlike && !fixedOrder(this.binding) && (this.from === "default" || this.from === "measured");
  }

  /** True for values that this launch can take. */
  accepts(values: Tuning): boolean {
    return problemOf(values, this.tunables) === undefined;
  }

  /** Key of launches that are alike on one device: the code, the class of the extents, the layouts. */
  get key(): string {
    return keyOf(this.binding, this.binding.call.options);
  }

  /** Views that a run changes. */
  get changed(): readonly View[] {
    const { views, outputs, access, peerStores } = this.binding;
    const written = Object.keys(views).filter((name) => access.views[name]?.written || access.views[name]?.scattered);
    const stored = [...written.map((name) => views[name]), ...peerStores.map(({ to }) => to)];
    return [...stored, ...Object.values(outputs).filter((view) => view !== undefined)];
  }

  /** For `Launch.remarks`: nothing where all is default. */
  get remarks(): readonly string[] {
    const tuning = this.chosen;
    switch (tuning.from) {
      case "default":
        return [];
      case "launch":
        return [`tuning: ${tuningText(tuning.values)}, as asked`];
      case "device":
        return [`tuning: ${tuningText(tuning.values)}, as this device was given`];
      case "file":
        return [`tuning: ${tuningText(tuning.values)}, as the tuning file asks`];
      case "measured":
        return [`tuning: ${tuningText(tuning.values)}, measured: ${microseconds(tuning.seconds)} against ${microseconds(tuning.baseline)}`];
      default:
        return unreachable(tuning);
    }
  }

  /** The same launch with these values and no others. If omitted: with the values that its device knows by now. */
  prepare(values?: Tuning): Launch {
    const { device, kernel, args, policy, options } = this.binding.call;
    return device.prepare<Params>(kernel, args, policy, values ? { ...options, tuning: values } : options);
  }
}

/** The launch, or its like with the values that were found the fastest where its device measures on first use. */
export async function atFirstUse(device: Device, launch: Launch): Promise<Launch> {
  if (!device.tuning.measuring || launch.tuning?.from !== "default") return launch;
  if (!(await tune(device, launch))) return launch;
  const better = launch.tuning.prepare();
  launch.free();
  return better;
}

const microseconds = (seconds: number): string => `${Number((seconds * 1e6).toPrecision(3))} us`;

/** The values of `scatter` for a launch: none if it was given one already, or where another one would change strict bits. */
export function scatterTunables({ ir, ordered, call }: Binding): Tunables {
  const targets = ir.params.filter((param) => param.kind === "scatter");
  const free = targets.length > 0 && call.options.scatter === undefined && (!ordered || !targets.some(orderMatters));
  return free ? { scatter: ["atomic", "duplicated", "cached", "sorted"] } : {};
}

/** Powers of two from 1 to `most`, and `most`; nothing to choose from where that is 1. */
export function workerTunables(most: number): Tunables {
  const counts: number[] = [];
  for (let count = 1; count < most; count *= 2) counts.push(count);
  return most > 1 ? { workers: [...counts, most] } : {};
}

/** Source of the strategy that a launch's scatter parameters were given, for remarks. */
export function strategySource({ call, tuning }: Pick<Binding, "call" | "tuning">): string {
  if (call.options.scatter !== undefined || tuning.from === "launch") return "as asked";
  return tuning.from === "measured" ? "as measured" : "as tuned";
}

/** Describes what is wrong with values for a launch that can take others. */
function problemOf(values: Tuning, tunables: Tunables): string | undefined {
  const all = Object.entries(tunables).map(([name, list]) => `${name} (${list.join(", ")})`);
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue;
    const allowed: readonly unknown[] | undefined = tunables[name as keyof Tuning];
    if (!TUNING_NAMES.includes(name as keyof Tuning)) return `there is no parameter "${name}"; there are ${TUNING_NAMES.join(", ")}`;
    if (!allowed) return `${name} cannot be set for this launch; it takes ${all.join(", ") || "none"}`;
    if (!allowed.includes(value)) return `${name} cannot be ${String(value)}; use one of ${allowed.join(", ")}`;
  }
  const { row = 0, threads = Infinity } = values;
  return row > threads ? `a row of ${row} does not fit into a block of ${threads} threads; use a shorter row or more threads` : undefined;
}

function keyOf({ ir, precision, policy, views, partials, unfolded }: LaunchTraits, { scatter }: LaunchOptions): string {
  const extents =
    policy.kind === "team"
      ? [policy.league, policy.size ?? 0, policy.lanes ?? 0, policy.abreast ?? 0]
      : [...policy.extents, ...(policy.tile ?? [])];
  const layouts = Object.entries(views).map(([name, view]) => [name, view.strides.map((stride) => (stride === 1 ? 1 : 0))]);
  return JSON.stringify([derive(ir, codeOf), precision, extents.map(sizeClass), layouts, partials, unfolded, scatter]);
}

/** Two classes from one power of two to the next. */
const sizeClass = (extent: number): number => Math.ceil(2 * Math.log2(Math.max(1, extent)));

/** The code as text, without locations: its place in its file does not matter. */
const codeOf = (ir: KernelIR): string => jsonText(ir, "location");
