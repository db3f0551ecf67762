import type { Device, Graph, Launch, Queue } from "../device.js";
import { around, opened, tell, tools, type CopyEvent, type KernelEvent, type MemoryEvent, type Tool } from "./tools.js";
import { CapturedSteps } from "../launch/steps.js";
import { BYTES, bytesOfData, type Buffer, type View } from "../memory/view.js";

export type { CopyEvent, FenceEvent, KernelEvent, MemoryEvent, RegionEvent, Tool } from "./tools.js";

/*
 * Methods of devices and queues are wrapped while a tool is attached and put back when the last one leaves, so that nothing is left of hooks
 * when they are off: not a comparison. It is the classes that are wrapped, so devices and queues that were there before are covered.
 */

const wrappers = new WeakSet<object>();
let restores: (() => void)[] = [];

/** Tools that listen to every device. */
export const hooks = {
  /** From now on the tool is told what happens; returns what detaches it. */
  attach(tool: Tool): () => void {
    tools.add(tool);
    opened.noted = wrapAll;
    wrapAll();
    return () => hooks.detach(tool);
  },
  detach(tool: Tool): void {
    tools.delete(tool);
    if (tools.size > 0) return;
    for (const restore of restores) restore();
    restores = [];
    opened.noted = () => {};
  },
};

type Contents = Pick<KernelEvent, "label" | "launches" | "copies" | "devices">;

/** Work noted while a graph is captured. */
let captured: { launches: Launch[]; copies: CopyEvent[]; devices: Set<Device>; steps: CapturedSteps } | undefined;
const graphs = new WeakMap<Launch | Graph, Contents & { readonly steps: CapturedSteps }>();
/** A copy may be done as a write. */
let copying = false;

const nameOf = ({ buffer }: View): string => buffer.memory.name;

function copy<T>(event: CopyEvent, call: () => T, again?: (queue: Queue) => void): T {
  if (captured && !copying) {
    captured.copies.push(event);
    captured.devices.add(event.device);
    if (event.queue && again) captured.steps.note(event.queue, again);
  }
  if (copying) return call();
  if (captured) return alone(call);
  return around("Copy", event, () => alone(call));
}

/** Runs a copy; calls that it makes belong to it. */
function alone<T>(call: () => T): T {
  copying = true;
  try {
    return call();
  } finally {
    copying = false;
  }
}

/** `x2` where there are several of one name. */
function namesOf(launches: readonly Launch[]): string {
  const counts = new Map<string, number>();
  for (const { kernel } of launches) counts.set(kernel.name, (counts.get(kernel.name) ?? 0) + 1);
  return [...counts].map(([name, count]) => (count > 1 ? `${name} x${count}` : name)).join(", ");
}

/** Contents of a launch, or of a graph whose contents are unknown. */
function contentsOf({ device }: Queue, work: Launch | Graph): Contents {
  if ("kernel" in work) return { label: work.kernel.name, launches: [work], copies: [], devices: [device] };
  return { label: "graph", launches: [], copies: [], devices: [device] };
}

/** Replacement of a method: `call` is the method with its arguments. */
type Wrapped<T, Names extends keyof T> = {
  readonly [M in Names]: T[M] extends (...args: infer A) => infer R ? (self: T, call: () => R, ...args: A) => R : never;
};

const QUEUE: Wrapped<Queue, "submit" | "capture" | "write" | "copy" | "clear" | "read" | "results" | "record" | "wait" | "finish"> = {
  submit(queue, call, work) {
    if (captured) {
      call();
      if ("kernel" in work) captured.launches.push(work);
      captured.devices.add(queue.device);
      captured.steps.note(queue, (on) => on.submit(work));
      return;
    }
    const graph = graphs.get(work);
    if (graph && [...tools].some(({ apart }) => apart)) graph.steps.run(queue);
    else around("Kernel", { queue, work, ...(graph ?? contentsOf(queue, work)) }, call);
  },
  capture(queue, call, _record, others = []) {
    const noted = {
      launches: [] as Launch[],
      copies: [] as CopyEvent[],
      devices: new Set<Device>(),
      steps: new CapturedSteps(queue, others),
    };
    const before = captured;
    captured = noted;
    try {
      const graph = call();
      const { launches, copies, devices, steps } = noted;
      graphs.set(graph, { label: `graph of ${namesOf(launches) || "copies"}`, launches, copies, devices: [...devices], steps });
      return graph;
    } finally {
      captured = before;
    }
  },
  record(queue, call) {
    const event = call();
    captured?.steps.noteRecord(queue, event);
    return event;
  },
  wait(queue, call, event) {
    call();
    captured?.steps.noteWait(queue, event);
  },
  write: (queue, call, target) =>
    copy({ kind: "write", device: queue.device, queue, from: "host", to: nameOf(target), bytes: bytesOf(target) }, call),
  copy: (queue, call, source, target) =>
    copy({ kind: "copy", device: queue.device, queue, from: nameOf(source), to: nameOf(target), bytes: bytesOf(source) }, call, (on) =>
      on.copy(source, target),
    ),
  clear: (queue, call, target) =>
    copy({ kind: "clear", device: queue.device, queue, from: nameOf(target), to: nameOf(target), bytes: bytesOf(target) }, call, (on) =>
      on.clear(target),
    ),
  read: (queue, call, source) =>
    around("Fence", { kind: "read", device: queue.device, queue }, () =>
      copy({ kind: "read", device: queue.device, queue, from: nameOf(source), to: "host", bytes: bytesOf(source) }, call),
    ),
  results: (queue, call) => around("Fence", { kind: "results", device: queue.device, queue }, call),
  finish: (queue, call) => around("Fence", { kind: "finish", device: queue.device, queue }, call),
};

const DEVICE: Wrapped<Device, "array" | "from" | "close"> = {
  array(device, call) {
    const view = call();
    const event = { device, bytes: bytesOf(view), label: `${view.type} [${view.shape}]` };
    tell("allocate", event);
    tellWhenFreed(view.buffer, event);
    return view;
  },
  from: (device, call, type, data) =>
    copy({ kind: "write", device, from: "host", to: device.memory.name, bytes: bytesOfData(type, data) }, call),
  async close(device, call) {
    for (const tool of tools) await tool.closing?.(device);
    await call();
  },
};

const bytesOf = (view: View): number => view.size * BYTES[view.type];

function tellWhenFreed(buffer: Buffer, event: MemoryEvent): void {
  const { free } = buffer;
  let told = false;
  buffer.free = () => {
    free.call(buffer);
    if (!told) tell("free", event);
    told = true;
  };
}

function wrapAll(): void {
  for (const prototype of opened.devices) wrap(prototype, DEVICE);
  for (const prototype of opened.queues) wrap(prototype, QUEUE);
}

type Method = (this: object, ...args: unknown[]) => unknown;
type Replacement = (self: object, call: () => unknown, ...args: unknown[]) => unknown;

/** Wraps methods where they are defined: in a class, or in one that it extends. */
function wrap(prototype: object, methods: object): void {
  for (const [name, replacement] of Object.entries(methods) as [string, Replacement][]) {
    let owner = prototype;
    while (!Object.hasOwn(owner, name)) owner = Object.getPrototypeOf(owner) as object;
    const original = Reflect.get(owner, name) as Method;
    if (wrappers.has(original)) continue;
    const wrapper: Method = function (...args) {
      return replacement(this, () => original.apply(this, args), ...args);
    };
    wrappers.add(wrapper);
    Reflect.set(owner, name, wrapper);
    restores.push(() => void Reflect.set(owner, name, original));
  }
}
