import { describe } from "../../base/describe.js";
import { own } from "../../base/own.js";
import type { KernelIR } from "../../ir/types.js";
import { LIST_RUN, type ListKernels } from "../../kernel/lower/list-kernels.js";
import type { CompileOptions } from "../../kernel/compile.js";
import { kernelFromIR } from "../../kernel/declare/from-ir.js";
import { flatCall, hasLists, listTypeName, paramsWithoutLists, writtenResults } from "../../kernel/declare/flat.js";
import type { Kernel } from "../../kernel/declare/kernel.js";
import type { ListToken, Params } from "../../kernel/declare/params.js";
import type { Cost, Device, Launch, LaunchOptions, Precision, Queue } from "../device.js";
import { BlockedView, storageOf } from "../memory/blocked-view.js";
import { overlap } from "../memory/overlap.js";
import { CPU_MEMORY, View } from "../memory/view.js";
import { bind, compiledCall, launchError, requireKernel } from "./bind.js";
import type { BindArguments } from "./binding.js";
import { isChecked } from "./known-bindings.js";
import { giveBackFaultRecord } from "./faults.js";
import { DeviceList, isListOf, LIST_STATE } from "./list.js";
import { placeLaunches } from "./list-scan.js";
import { OtherNumbers } from "./other-numbers.js";
import { range, type Policy, type RangePolicy } from "./policy.js";

/*
 * A launch of a kernel with lists is several: one counts, some make places of the counts, one fills, and the last does all else. Arithmetic of the first ones is strict: what is
 * counted is what is filled.
 */

/** A list that a launch fills. */
interface Filled {
  readonly name: string;
  readonly list: DeviceList;
  /** How often an element may append, where that is counted, else 0. */
  readonly most: number;
  /** The state in which the launch leaves the list. */
  readonly own: View<"i32", 1>;
}

/** Launches of a kernel with lists. */
interface ListParts {
  readonly launches: readonly Launch[];
  /** The launch that does all but the lists. */
  readonly rest: Launch | undefined;
  readonly lists: readonly Filled[];
  free(): void;
}

/** A prepared launch of a kernel with lists. */
export class ListLaunch implements Launch {
  readonly kernel: Kernel;
  readonly policy: Policy;
  readonly precision: Precision;
  private readonly otherNumbers: OtherNumbers;

  constructor(
    call: BindArguments,
    private readonly parts: ListParts,
  ) {
    this.kernel = call.kernel;
    this.policy = call.policy;
    this.precision = call.options.precision ?? call.device.precision;
    this.otherNumbers = new OtherNumbers(this, call);
  }

  get others(): Pick<OtherNumbers, "last"> {
    return this.otherNumbers;
  }

  get launches(): readonly Launch[] {
    return this.parts.launches;
  }

  get cost(): Cost {
    const total = (of: keyof Cost): number => this.launches.reduce((sum, { cost }) => sum + cost[of], 0);
    return { flops: total("flops"), bytes: total("bytes") };
  }

  get remarks(): readonly string[] {
    return this.launches.flatMap(({ kernel, remarks }, n) => remarks.map((remark) => `${n + 1}, ${kernel.name}: ${remark}`));
  }

  submit(scalars?: Readonly<Record<string, number | bigint | boolean | object>>, policy?: Policy): void {
    this.otherNumbers.submit(scalars, policy);
  }

  source(): string {
    return this.launches.map((launch) => launch.source()).join("\n\n");
  }

  free(): void {
    this.otherNumbers.free();
    this.parts.free();
  }

  /** Submits all its launches; for the queue that it is submitted to. */
  submitBy(submit: (launch: Launch) => void): void {
    this.launches.forEach(submit);
  }

  /** Results once all its launches have run on the queue. Throws LaunchError for a list that had not room for all. */
  async resultsOn(queue: Queue): Promise<Record<string, unknown>> {
    const states = this.parts.lists.map(({ own }) => queue.read(own));
    const ends = this.launches.map((launch) => queue.results(launch));
    await Promise.allSettled([...ends, ...states]);
    // The first that fails is told.
    for (const end of ends) await end;
    const rest = this.parts.rest ? await ends[this.launches.indexOf(this.parts.rest)] : {};
    const lengths = await Promise.all(states);
    const counted = this.parts.lists.map(({ name, list }, n) => [name, list.lengthIn(lengths[n])] as const);
    return { ...writtenResults(this.kernel, rest), ...Object.fromEntries(counted) };
  }
}

/** Prepares a launch of a kernel with lists; undefined for other kernels. Throws LaunchError and KernelError as `bind` does. */
export function prepareLists(
  device: Device,
  written: Kernel,
  given: Readonly<Record<string, unknown>>,
  policy: Policy,
  options: LaunchOptions = {},
  compile: CompileOptions = {},
): ListLaunch | undefined {
  if (!hasLists(written)) return undefined;
  requireKernel(device, written, given);
  const { kernel, args } = flatCall(written, given);
  const call: BindArguments = { device, kernel, args, policy, options, compile };
  const owned: { free(): void }[] = [];
  try {
    return new ListLaunch(call, partsOf(call, owned));
  } catch (error) {
    freeAll(owned);
    throw error;
  }
}

const freeAll = (owned: { free(): void }[]): void => {
  for (const thing of owned.splice(0).reverse()) thing.free();
};

function partsOf(call: BindArguments, owned: { free(): void }[]): ListParts {
  const { device, kernel, args, options } = call;
  const { lists: code, ir } = compiledCall(call).strict;
  if (!code) throw new Error(`kernel "${kernel.name}" has no lists`);
  const asked = code.lists.map(({ name, most, peak }) => ({ name, list: listOf(call, name), most: peak === undefined ? 0 : most }));
  const policy = rangeOf(call, ir);
  const given = Object.fromEntries(Object.entries(args).filter(([name]) => !asked.some((list) => list.name === name)));
  refuseShared(call, code, asked, given);
  const array = (length: number): View<"i32", 1> => {
    const made = device.array({ type: "i32" } as const, length);
    owned.push(made);
    return made;
  };
  const lists = asked.map((list) => ({ ...list, own: array(LIST_STATE.length) }));
  const prepared = (part: Kernel, its: Readonly<Record<string, unknown>>, over: Policy, how: LaunchOptions): Launch => {
    const launch = device.prepare<Params>(part, its, over, how);
    owned.push(launch);
    return launch;
  };
  const strict: LaunchOptions = { precision: "strict", checked: isChecked(call) };
  const onHost = device.memory === CPU_MEMORY && device.backend !== "js-debug";
  const inRuns = onHost && !hasChecks(call, code, { given, policy, lists, options: strict });
  const shape = inRuns ? runsOf(policy) : policy;
  const total = shape.extents.reduce((a, b) => a * b, 1);
  if (total >= 2 ** 31 - 1)
    throw launchError(
      device,
      kernel,
      `its range has ${total} elements, and lists are filled from fewer than 2147483647; give a smaller range`,
    );
  const counts = lists.map(() => array(total + 1));
  const kernels = kernelsOf(code, inRuns);
  const its = argumentsOf(code, { given, policy, lists, counts, shape });
  const how = inRuns ? { ...strict, checked: false } : strict;
  const count = prepared(kernels.count, pick(kernels.count, its), shape, how);
  const parts = {
    device,
    array,
    launch: (part: Kernel, values: Readonly<Record<string, unknown>>, n: number) =>
      prepared(part, values, range(n), { precision: "strict", checked: false }),
  };
  const places = lists.flatMap(({ name, list, most, own }, n) => {
    const filler = list.numberOf({ name, kernel: kernel.name });
    return placeLaunches(parts, counts[n], total, { own, state: list.state, capacity: list.capacity, most, filler });
  });
  const fill = prepared(kernels.fill, pick(kernels.fill, its), shape, how);
  const asks = options.partials || options.unfolded || options.scatter !== undefined || (options.peerStores?.length ?? 0) > 0;
  const needed = !code.idle || device.backend === "js-debug" || asks;
  const rest = needed ? prepared(restKernel(kernel), given, policy, options) : undefined;
  return { launches: [count, ...places, fill, ...(rest ? [rest] : [])], rest, lists, free: () => freeAll(owned) };
}

/** The list that a launch gives. */
function listOf({ device, kernel, args }: BindArguments, name: string): DeviceList {
  const { of } = kernel.params[name] as ListToken;
  const list = own(args, name);
  const make = `give device.list(${listTypeName(of)}, capacity)`;
  const fail = (problem: string): never => {
    throw launchError(device, kernel, `${name} is a list of ${listTypeName(of)}, and ${problem}; ${make}`);
  };
  if (!(list instanceof DeviceList)) return fail(`is given ${list === undefined ? "nothing" : describe(list)}`);
  if (!isListOf(of, list.of)) return fail(`is given one of ${listTypeName(list.of)}`);
  if (list.state.buffer.memory !== device.memory) return fail(`is given one in the memory of ${list.device.name}`);
  if ([list.state, ...list.arrays].some(({ buffer }) => buffer.live === false)) return fail("is given one whose memory was freed");
  return list;
}

/** The range of the launch. Whatever is wrong with it is refused where it is bound. */
function rangeOf({ device, kernel, policy }: BindArguments, { policy: declared }: KernelIR): RangePolicy {
  if (policy?.kind === "range" && declared.kind === "range" && declared.rank === policy.extents.length) return policy;
  const given =
    policy?.kind === "range" ? `a range of ${policy.extents.length} axes` : policy?.kind === "team" ? "teams" : describe(policy);
  throw launchError(device, kernel, `it is given ${given} for what it runs over; write range(n), with an extent for each of its indices`);
}

interface Given {
  readonly given: Readonly<Record<string, unknown>>;
  readonly policy: RangePolicy;
  readonly lists: readonly Filled[];
}

/** Throws LaunchError for arguments that share memory, where the kernels of this launch would see what others of them have written. */
function refuseShared(
  { device, kernel }: BindArguments,
  { elements, written }: ListKernels,
  lists: readonly Pick<Filled, "name" | "list">[],
  given: Given["given"],
): void {
  const views = Object.entries(given).flatMap(([name, value]): [string, View][] =>
    value instanceof View || value instanceof BlockedView ? [[name, storageOf(value)]] : [],
  );
  const refuse = (a: string, b: string): never => {
    throw launchError(device, kernel, `${a} and ${b} share memory; give ${b} memory of its own`);
  };
  lists.forEach(({ name, list }, n) => {
    for (const other of lists.slice(0, n)) if (other.list === list) refuse(other.name, name);
    for (const [view, its] of views) if (overlap(its, list.state) || list.arrays.some((array) => overlap(its, array))) refuse(view, name);
  });
  const read = new Set(elements.fill.params.map(({ name }) => name));
  for (const [name, view] of views)
    for (const [other, its] of views)
      if (name !== other && written.includes(name) && read.has(other) && overlap(view, its)) refuse(other, name);
}

/** Whether indices of the launch are checked while it runs; such code goes element by element, so that messages name elements. */
function hasChecks(
  call: BindArguments,
  code: ListKernels,
  { given, policy, lists, options }: Given & { readonly options: LaunchOptions },
): boolean {
  const { fill } = kernelsOf(code, false);
  const { buffer } = call.device.array({ type: "i32" } as const, 1);
  try {
    // Nothing runs: the counters are one element.
    const total = policy.extents.reduce((a, b) => a * b, 1);
    const counts = lists.map(() => new View(buffer, "i32", [total + 1], [0]));
    const its = argumentsOf(code, { given, policy, lists, counts, shape: policy });
    const binding = bind(call.device, fill, pick(fill, its), policy, options, call.compile);
    giveBackFaultRecord(binding);
    return binding.ir.checks !== undefined;
  } finally {
    buffer.free();
  }
}

/** Runs of neighbours along the last axis. */
const runsOf = ({ begin, extents }: RangePolicy): RangePolicy => ({
  kind: "range",
  begin: [...begin.slice(0, -1), 0],
  extents: [...extents.slice(0, -1), Math.ceil(extents.at(-1)! / LIST_RUN)],
});

/** Arguments of the kernels that count and fill. */
function argumentsOf(
  code: ListKernels,
  { given, policy, lists, counts, shape }: Given & { readonly counts: readonly View[]; readonly shape: RangePolicy },
): Record<string, unknown> {
  return {
    ...given,
    ...Object.fromEntries(code.begins.map((name, axis) => [name, shape.begin[axis]])),
    ...Object.fromEntries(code.extents.map((name, axis) => [name, shape.extents[axis]])),
    [code.row.begin]: policy.begin.at(-1),
    [code.row.extent]: policy.extents.at(-1),
    ...Object.fromEntries(
      code.lists.flatMap(({ views, counts: name, peak }, n) => [
        ...views.map((view, part) => [view, lists[n].list.arrays[part]]),
        [name, counts[n]],
        ...(peak === undefined ? [] : [[peak, lists[n].own.slice([LIST_STATE.peak, LIST_STATE.peak + 1])]]),
      ]),
    ),
  };
}

const pick = ({ params }: Kernel, args: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.keys(params).flatMap((name) => (Object.hasOwn(args, name) ? [[name, args[name]]] : [])));

interface CodeKernels {
  readonly count: Kernel;
  readonly fill: Kernel;
}
const made = new WeakMap<object, CodeKernels>();

function kernelsOf({ elements, runs }: ListKernels, inRuns: boolean): CodeKernels {
  const code = inRuns ? runs : elements;
  const found = made.get(code) ?? { count: kernelFromIR(code.count), fill: kernelFromIR(code.fill) };
  made.set(code, found);
  return found;
}

const rests = new WeakMap<Kernel, Kernel>();

/** The kernel without its lists. */
function restKernel(kernel: Kernel): Kernel {
  const found = rests.get(kernel) ?? { ...kernel, params: paramsWithoutLists(kernel.params), written: kernel.written ?? kernel };
  rests.set(kernel, found);
  return found;
}
