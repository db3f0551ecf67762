import type { Device, Graph, Launch, Queue } from "../device.js";

/** A launch or a graph that was submitted; begins and ends on the calling thread, which does not wait for a GPU. */
export interface KernelEvent {
  readonly queue: Queue;
  readonly work: Launch | Graph;
  /** The kernel's name; for a graph the names of its launches: `graph of step x2, total`. */
  readonly label: string;
  /** Launches that run, in order: the launch, or the graph's; unknown for a graph that was captured while no tool was attached. */
  readonly launches: readonly Launch[];
  /** Copies and clears of a graph. */
  readonly copies: readonly CopyEvent[];
  /** Devices on which it runs: a graph may have several. */
  readonly devices: readonly Device[];
}

/** Bytes that are moved; a `read` ends when they have arrived, others as soon as they are submitted. */
export interface CopyEvent {
  readonly kind: "copy" | "clear" | "write" | "read";
  readonly device: Device;
  /** Undefined for the data of `Device.from`. */
  readonly queue?: Queue;
  /** Names of memories, or `host` for data of the program; a clear has its target's twice. */
  readonly from: string;
  readonly to: string;
  readonly bytes: number;
}

/** The program waits for a queue; what it waits for is the end of all work (`finish`), data or results. */
export interface FenceEvent {
  readonly kind: "finish" | "read" | "results";
  readonly device: Device;
  readonly queue: Queue;
}

/** An array that the program, a field or a scalar asked for; temporary memory of launches is not reported. */
export interface MemoryEvent {
  readonly device: Device;
  readonly bytes: number;
  /** Type and shape: `f64 [64,64]`. */
  readonly label: string;
}

/** A part of the program, see `region`. */
export interface RegionEvent {
  readonly name: string;
}

/**
 * Told what programs ask of devices. An event's beginning and its end are given one and the same object. What is captured into a graph is
 * told when the graph is submitted. Tools may record events on queues, and submit nothing.
 */
export interface Tool {
  /**
   * Submits the work of graphs captured from now on one by one while the tool is attached, so that it hears of each launch and copy;
   * there is more for the host to do then, and devices may wait for it.
   */
  readonly apart?: boolean;
  beginKernel?(event: KernelEvent): void;
  endKernel?(event: KernelEvent): void;
  beginCopy?(event: CopyEvent): void;
  endCopy?(event: CopyEvent): void;
  beginFence?(event: FenceEvent): void;
  endFence?(event: FenceEvent): void;
  allocate?(event: MemoryEvent): void;
  /** The event of the allocation. Memory that goes with its device is reported for CPU devices only. */
  free?(event: MemoryEvent): void;
  beginRegion?(event: RegionEvent): void;
  endRegion?(event: RegionEvent): void;
  /** A device is about to be closed, which waits for the tool: it can read its events now and not later. */
  closing?(device: Device): Promise<void> | void;
}

/** Attached tools. */
export const tools = new Set<Tool>();

/** Prototypes of the devices that were opened, and of their queues. */
export const opened = {
  devices: new Set<object>(),
  queues: new Set<object>(),
  /** Called when there may be more of them. */
  noted: (): void => {},
};

/** Makes devices of this class known to tools; `open` does. */
export function cover(device: Device): void {
  opened.devices.add(Object.getPrototypeOf(device));
  opened.queues.add(Object.getPrototypeOf(device.queue));
  opened.noted();
}

/** Names a part of the program for tools: what `body` does, until it returns or its promise is settled. Regions nest. */
export function region<T>(name: string, body: () => T): T {
  return tools.size === 0 ? body() : around("Region", { name }, body);
}

interface Events {
  Kernel: KernelEvent;
  Copy: CopyEvent;
  Fence: FenceEvent;
  Region: RegionEvent;
}

/** Tells the tools of what `call` does; a promise's end is the end. */
export function around<K extends keyof Events, T>(kind: K, event: Events[K], call: () => T): T {
  tell(`begin${kind}`, event);
  let result: T;
  try {
    result = call();
  } catch (error) {
    tell(`end${kind}`, event);
    throw error;
  }
  if (result instanceof Promise) return result.finally(() => tell(`end${kind}`, event)) as T;
  tell(`end${kind}`, event);
  return result;
}

export function tell(callback: Exclude<keyof Tool, "closing" | "apart">, event: Events[keyof Events] | MemoryEvent): void {
  for (const tool of tools) (tool[callback] as ((event: unknown) => void) | undefined)?.call(tool, event);
}
