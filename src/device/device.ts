import type { Precision, ScatterStrategy } from "../ir/launch.js";
import type { ValueIn } from "../ir/scalars.js";
import type { ElementType, KernelIR, NumericType, ScatterOp, WideType } from "../ir/types.js";
import type { Kernel, PolicyKind } from "../kernel/declare/kernel.js";
import type { AnyComposite, ComponentType, CompositeToken } from "../kernel/declare/composite.js";
import type {
  CompositeReduceToken,
  ExtremumToken,
  StructReduceToken,
  CompositeScatterToken,
  CompositeViewToken,
  FixedToken,
  ListElement,
  ListToken,
  Params,
  ReduceEachToken,
  ReduceToken,
  ScalarToken,
  ScatterToken,
  StructViewToken,
  ViewToken,
} from "../kernel/declare/params.js";
import type { AnyStruct, StructFields, StructToken, StructValue } from "../kernel/declare/struct.js";
import type { BlockedView } from "./memory/blocked-view.js";
import type { Policy, RangePolicy, TeamPolicy } from "./launch/policy.js";
import type { Tunables, Tuning } from "../ir/tuning.js";
import type { Chosen, Measured, TuningFile } from "./launch/chosen.js";
import type { Buffer, LayoutName, MemorySpace, RankOf, Shape, TypedArrayOf, View } from "./memory/view.js";

export type { Precision, ScatterStrategy };

/** Capabilities of a device; printed by `isoform doctor`. */
export interface Capabilities {
  f64: boolean;
  /** Significant bits of f64 arithmetic if it is emulated and has fewer than 53; its range is then the range of f32. */
  f64Bits?: number;
  /** False where f32 below 2^-126 may become zero. */
  subnormals?: false;
  /** Workers, or multiprocessors of a GPU. */
  parallelism: number;
  /** Bytes of the SIMD registers that the backend uses; 0 where there are none, or where threads take their place. */
  simdBytes: number;
  /** Bytes of memory for views; infinite where nobody tells. */
  memory: number;
  /** The largest single view, in bytes. */
  maxAllocation: number;
}

/** Peak rates by the vendor's figures; absent where a backend cannot tell. */
export interface TheoreticalPeaks {
  /** Bytes a second between memory and processor. */
  bandwidth?: number;
  /** f64 operations a second. */
  flops?: number;
}

/** The values a launch gives to a kernel's parameters; by any names where these are not known before the program runs. */
export type Args<P extends Params> = string extends keyof P
  ? Readonly<Record<string, unknown>>
  : {
      [
        K in keyof P as P[K] extends
          | ScalarToken
          | FixedToken
          | ViewToken
          | ScatterToken
          | ReduceEachToken
          | AnyComposite
          | StructViewToken
          | ListToken
          | AnyStruct
          ? K
          : never
      ]: Arg<P[K]>;
    } & {
      /**
       * Nothing, or one of two things. A number: the value that the reduction starts from, folded with the elements' values into the result
       * that `run` returns. A view of one element, which takes the result on the device (or the partials, see LaunchOptions).
       */
      [K in keyof P as P[K] extends AnyReduction ? K : never]?: StartOf<P[K]>;
    };
/** Reductions with one result, of one number or several. */
type AnyReduction = ReduceToken | CompositeReduceToken | ExtremumToken | StructReduceToken;
type StartOf<P> =
  P extends ReduceToken<infer T>
    ? View<T> | ValueIn<T>
    : P extends CompositeReduceToken<infer V, infer T>
      ? View<T> | V
      : P extends ExtremumToken<infer T>
        ? { readonly value: View<T> | number; readonly index: View<"i32"> | number }
        : P extends StructReduceToken<infer F>
          ? StructValue<F>
          : never;
type Arg<P> =
  P extends ListToken<infer T>
    ? List<T>
    : P extends StructViewToken<infer F>
      ? StructArrays<F>
      : P extends StructToken<infer F>
        ? StructValue<F>
        : NumberArg<P>;
/** The elements of a list: an array, with the components of vectors and the like along further axes, or an array for each field of a record. */
export type ListArrays<T extends ListElement> =
  T extends StructToken<infer F>
    ? StructArrays<F>
    : T extends CompositeToken<unknown, unknown, infer E, never>
      ? View<E>
      : T extends ScalarToken<"bool">
        ? View<"u8", 1>
        : T extends ElementToken<infer E extends ElementType>
          ? View<E, 1>
          : never;
/** Memory for the elements that kernels append, which `device.list(type, capacity)` makes. */
export interface List<T extends ListElement = ListElement> {
  /** Elements that it has room for. */
  readonly capacity: number;
  /** The elements; the first `count` of them were appended by the last launch. */
  readonly view: ListArrays<T>;
  /** A view of one number: how many elements there are, at most the capacity, for kernels that go over them. */
  readonly count: View<"i32", 1>;
  /**
   * The number of elements, once all is done that was submitted to the device's default queue so far. Throws LaunchError where more were appended than it has room for, and
   * where an element appended more often than the kernel's `list(type, most)` says.
   */
  length(): Promise<number>;
  /** Gives back its memory. */
  free(): void;
}
/** An array for each field of a record. */
export type StructArrays<F extends StructFields> = {
  readonly [K in keyof F]: F[K] extends StructToken<infer G> ? StructArrays<G> : View<FieldElement<F[K]>>;
};
type FieldElement<T> =
  T extends CompositeToken<unknown, unknown, infer E, never> ? E : T extends ElementToken<infer E extends ElementType> ? E : never;
type NumberArg<P> =
  P extends CompositeToken<infer V, unknown, ComponentType, never>
    ? V
    : P extends CompositeViewToken<unknown, infer T> | CompositeScatterToken<unknown, infer T>
      ? View<T> | BlockedView<T>
      : P extends ScalarToken<infer T>
        ? T extends NumericType
          ? ValueIn<T>
          : boolean
        : P extends FixedToken<infer T>
          ? T extends NumericType
            ? ValueIn<T>
            : boolean
          : P extends ViewToken<infer T, infer R>
            ? View<T, R> | BlockedView<T, R>
            : P extends ScatterToken<infer T, infer R>
              ? View<T, R> | BlockedView<T, R>
              : P extends ReduceEachToken<infer T>
                ? View<T>
                : never;
/** The policies of a kernel over ranges, or of one over teams. */
export type PolicyOf<K extends PolicyKind> = { range: RangePolicy; team: TeamPolicy }[K];
/** Results of a launch: a number, or a value of several, by each reduce parameter, and the number of elements of each list. */
export type Results<P extends Params> = string extends keyof P
  ? Record<string, number>
  : {
      [K in keyof P as P[K] extends AnyReduction | ListToken ? K : never]: P[K] extends CompositeReduceToken<infer V>
        ? V
        : P[K] extends ExtremumToken
          ? Placed
          : P[K] extends StructReduceToken<infer F>
            ? StructValue<F>
            : P[K] extends ReduceToken<infer T>
              ? ValueIn<T>
              : number;
    };

/** A least or greatest value, and the index that goes with it. */
export interface Placed {
  readonly value: number;
  readonly index: number;
}

/** Planes that a range kernel writes at one end of the first of its three axes, and stores somewhere else as well: in a neighbour's halo. */
export interface PeerStore {
  /** A view parameter of rank 3 whose own elements the kernel writes. */
  readonly param: string;
  readonly side: "first" | "last";
  /** A place for each of the planes, with strides and other extents as the parameter's view has them, in memory that the device `canPeerStore` in. */
  readonly to: View;
}

/** Keys, and where they go, by eight bits of theirs. All views are of one length, contiguous and in memory of their own. */
export interface DigitSort {
  readonly keys: View<"u32", 1>;
  /** Numbers that go with the keys. Default: their places. */
  readonly order?: View<"i32", 1>;
  /** The lowest bit of the digit. */
  readonly shift: number;
  readonly sortedKeys?: View<"u32", 1>;
  readonly sortedOrder: View<"i32", 1>;
}

/** A scan of whole numbers. Both views are of one length, contiguous and in memory of their own. */
export interface PrefixScan {
  readonly input: View<"i32" | "u32", 1>;
  readonly output: View<"i32" | "u32", 1>;
  readonly op: ScatterOp;
  /** Element i takes what lies before i. */
  readonly exclusive: boolean;
  /** One element that takes the fold of all. */
  readonly total?: View<"i32" | "u32", 1>;
}

/** Products of matrices of a batch, c = alpha a b + beta c, by a library of the device's maker. `c` is in memory of its own. */
export interface LibraryProduct {
  readonly a: View<"f64" | "f32", 3>;
  readonly b: View<"f64" | "f32", 3>;
  readonly c: View<"f64" | "f32", 3>;
  readonly alpha: number;
  readonly beta: number;
}

/** Options of one launch, as the last argument of `run` and `prepare`. */
export interface LaunchOptions {
  /** Default: the device's precision. */
  precision?: Precision;
  /**
   * Sums and other folds come in the order of strict mode, whatever the arithmetic: results are the same in each run, with any number of
   * threads (docs/determinism.md). Default: the device's `deterministic`.
   */
  deterministic?: boolean;
  /**
   * Strict mode only: reduce parameters take the first-level partials (docs/determinism.md), `partialCount(policy)` of them in order, into
   * the contiguous views that they are given. Nothing is folded, and there are no results.
   */
  partials?: boolean;
  /** Fast mode, on devices with `fold`: reductions stay with the launch as partials, and there are no results. Others fold as usual. */
  unfolded?: boolean;
  /** Values that the launch stores in memory of other devices, too; for devices with `canPeerStore`. */
  peerStores?: readonly PeerStore[];
  /**
   * From the end of the range to its begin, where the device has a choice and its cache holds a good part of the views: what the launch before
   * has touched last is found there. Results of strict mode do not depend on it.
   */
  sweepBackward?: boolean;
  /** For all scatter parameters, or for each by name. Default: chosen by the library; `sorted` in strict mode and with `deterministic`. */
  scatter?: ScatterStrategy | Record<string, ScatterStrategy>;
  /**
   * An index outside of its array ends the launch with a KernelError that names the access and the element; nothing outside is read or written
   * (docs/checked.md). Default: the device's `checked`.
   */
  checked?: boolean;
  /** These values and no others, whatever the device knows of such launches; LaunchError for what the launch does not have. */
  tuning?: Tuning;
}

/** Options of `Device.run`. */
export interface DeviceRunOptions extends LaunchOptions {
  /**
   * Ends the launch where it can be ended: before it begins, and on `js`, `wasm` and `native` after the slice that runs, if it takes longer than 20
   * ms, and has no reductions and scatters (in strict mode `js` and `wasm` cut reductions, too). Its views may have been written in part then.
   */
  signal?: AbortSignal;
}

/** A kernel bound to arguments and ready to run as often as wanted; holds the device's code and the temporary memory that it needs. */
export interface Launch {
  readonly kernel: Kernel;
  readonly policy: Policy;
  readonly precision: Precision;
  /** By the rule of docs/assessment.md, for one run of this launch. */
  readonly cost: Cost;
  /** Decisions and their reasons, a line each: the scatter strategy, vector width, block size, non-temporal stores. */
  readonly remarks: readonly string[];
  /** How its work is shared out, and how else it could be; see `tune`. Undefined if that is always the same. */
  readonly tuning?: TuningOfLaunch;
  /**
   * Submits it to its device's default queue with these scalars in place of those that it was prepared with, and over this range in place of its
   * own; `queue.results` then gives the results of that run. The launch stays as it was prepared. Throws LaunchError for what `prepare` would
   * refuse, and during a capture: prepare a launch for each before.
   */
  submit(scalars?: Readonly<Record<string, number | bigint | boolean | object>>, policy?: Policy): void;
  /** The generated source (or WebAssembly text), for people. */
  source(): string;
  /** Gives back temporary memory. The arguments stay. */
  free(): void;
}

/** The tuning of one launch: what it was given, and what else it could be given. */
export interface TuningOfLaunch {
  readonly values: Tuning;
  readonly from: Chosen["from"];
  readonly tunables: Tunables;
  /** Whether measured values may be used. */
  readonly measurable: boolean;
  /** True for values that this launch can take. */
  accepts(values: Tuning): boolean;
  /** Key of launches that are alike on one device: the code, the class of the extents, the layouts. */
  readonly key: string;
  /** Views that a run changes. */
  readonly changed: readonly View[];
  /** For `Launch.remarks`: nothing where all is default. */
  readonly remarks: readonly string[];
  /** The same launch with these values and no others. If omitted: with the values that its device knows by now. */
  prepare(values?: Tuning): Launch;
}

/** Traits by which launches are tuned. */
export interface LaunchTraits {
  readonly kernel: Kernel;
  readonly ir: KernelIR;
  readonly precision: Precision;
  readonly ordered: boolean;
  readonly policy: Policy;
  readonly views: Readonly<Record<string, View>>;
  readonly partials: boolean;
  readonly unfolded: boolean;
}

/** Tuning of one device's launches: the user's own values, and values measured in this process. */
export interface DeviceTuning {
  /** `tune` and skeletons measure launches for which nothing is known, on first use. */
  measuring: boolean;
  /** Sets the values of all launches of one kernel that are prepared from now on; they win over what is measured. */
  set(kernel: string, values: Tuning): void;
  /** Takes the sections of a file for this device: its backend's, then its own. */
  use(file: TuningFile, device: { readonly name: string; readonly backend: string }): void;
  /** Keeps what was found for launches like this one. */
  note(launch: Pick<TuningOfLaunch, "key">, found: Measured): void;
  /** No launch of this kernel is given other values than the default, unless it is by its own options. */
  isDefault(kernel: string): boolean;
  /** The launch's own values, else the user's, else measured ones. */
  choose(launch: LaunchTraits, options: LaunchOptions): Chosen;
}

/** Work counted from the kernel's code for given extents. */
export interface Cost {
  flops: number;
  bytes: number;
}

/**
 * Work that was captured once and is submitted as one: a CUDA graph; on `wasm` one region of the workers, on `native` one call, that goes
 * over all of it. Arguments, shapes and order are fixed at the capture.
 */
export interface Graph {
  /** Description of the graph, a line each: how many launches and copies, in how many regions. */
  readonly remarks: readonly string[];
  /** Gives back what the device holds for it. The launches stay. */
  free(): void;
}

/** An ordered stream of work. Submitting does not wait for the device. */
export interface Queue {
  readonly device: Device;
  /** CPU devices run it here and now, with the calling thread taking part; what may take longer than 20 ms is done by other threads, and later work after it. */
  submit(work: Launch | Graph): void;
  /**
   * Notes what `record` submits to this queue and to `others` instead of running it: launches, copies, clears, events and waits for events of
   * the same capture, which tell an order and no time. `others`, which may be of other devices of the same kind, start when this queue is
   * there, and this queue goes on when all are through. Nothing can be read, written or prepared meanwhile. Throws LaunchError for what
   * cannot be captured.
   */
  capture(record: () => void, others?: readonly Queue[]): Graph;
  /** Copies host data (in `right` order of the view's indices) to the view. Throws LaunchError for values that its type cannot hold. */
  write(target: View, data: ArrayLike<number> | ArrayLike<bigint>): void;
  /**
   * Copies between views of one shape and type, of this memory. A GPU's queue also copies from and to another GPU (where it cannot reach its
   * memory directly, contiguous views only), and from and to the CPUs' memory; the calling thread waits for a copy to a CPU.
   */
  copy(source: View, target: View): void;
  /** Sets every byte of a contiguous view to zero. */
  clear(target: View): void;
  /** The view's elements in `right` order, once everything before is done. */
  read<T extends ElementType>(source: View<T>): Promise<TypedArrayOf<T>>;
  /** Results of the launch's last run, those bound to views included. */
  results(launch: Launch): Promise<Record<string, number>>;
  /** A mark in the stream with a device time. */
  record(): DeviceEvent;
  /** Makes later submissions wait for the event, which may be another queue's. */
  wait(event: DeviceEvent): void;
  finish(): Promise<void>;
}

/** A point in a queue's work, which `queue.record()` marks: wait for it, or take the time since an earlier one. */
export interface DeviceEvent {
  /** Seconds from an earlier event, by the device's clock; waits until both have happened. */
  since(earlier: DeviceEvent): Promise<number>;
  done(): Promise<void>;
  /** The same, blocking the calling thread. */
  block(): void;
}

/** One device's part of a fold, and the views of one element that take the result there, by reduce parameter. */
export interface FoldPart {
  readonly device: Device;
  readonly launches: readonly Launch[];
  readonly results: Readonly<Record<string, View>>;
}

/** Launches that bring the partial results of several devices together. */
export interface Fold {
  /** One for each part. */
  readonly launches: readonly Launch[];
  /**
   * Whether the launches wait for each other while they run, so that no other ordering is needed: all must be submitted, each after everything
   * that its device was given before. Otherwise each must come after the partials of all devices.
   */
  readonly allReduces: boolean;
}

/**
 * A device that was opened: it makes arrays, compiles kernels, and runs them on its queues. `await device.close()` frees all that it holds.
 */
export interface Device {
  /** As given to `open`: `js`, `wasm`, `native`, `cuda:0`. */
  readonly name: string;
  readonly backend: string;
  /** Hardware in words. */
  readonly label: string;
  /** Versions of the driver or compiler; measurements of another version are discarded. */
  readonly versions?: Readonly<Record<string, string>>;
  /** Whether it computes on this machine's processor. Default: true for devices that work in the CPUs' memory. */
  readonly onHost?: boolean;
  readonly capabilities: Capabilities;
  readonly theoretical?: TheoreticalPeaks;
  readonly memory: MemorySpace;
  /** Rows of scratch of level 1 that a league needs, as many as teams run at a time; undefined if each team needs its own. */
  residentTeams?(league: number): number;
  readonly tuning: DeviceTuning;
  /** Used by launches that ask for none. */
  precision: Precision;
  /** Used by launches that do not say. */
  deterministic?: boolean;
  /** The default of its launches. If omitted, launches in strict mode are checked. */
  checked?: boolean;
  /** Takes the lines that kernels print. If omitted, `console.log` does. */
  print?: (line: string) => void;
  /** The default stream. */
  readonly queue: Queue;
  createQueue(): Queue;
  /**
   * Memory of the host through which messages of its views go to other processes: its queues copy to it and from it, the quickest way. Such a copy
   * may be under way until the queue has passed: block on an event of it. Undefined where devices cannot be read while the thread waits.
   */
  hostMemory?(bytes: number): Buffer;
  /** New zeroed memory. `right` layout unless asked otherwise. Throws DeviceError if it does not fit. */
  array<T extends ElementType, const S extends Shape>(type: ElementToken<T>, shape: S, options?: ArrayOptions): View<T, RankOf<S>>;
  /** Truth values, a byte each: 0 is false. */
  array<const S extends Shape>(type: ScalarToken<"bool">, shape: S, options?: ArrayOptions): View<"u8", RankOf<S>>;
  /** The same of vectors, matrices and the like, whose components lie along further axes at the end: `device.array(vec3, 10)` has the shape [10, 3]. */
  array<T extends ComponentType>(type: CompositeToken<unknown, unknown, T, never>, shape: Shape, options?: ArrayOptions): View<T>;
  /** The same, filled from host data in `right` order. */
  from<T extends WideType, const S extends Shape = number>(
    type: ScalarToken<T>,
    data: ArrayLike<bigint>,
    shape?: S,
    options?: ArrayOptions,
  ): View<T, RankOf<S>>;
  from<T extends ElementType, const S extends Shape = number>(
    type: ElementToken<T>,
    data: ArrayLike<number>,
    shape?: S,
    options?: ArrayOptions,
  ): View<T, RankOf<S>>;
  /** Truth values, or numbers: 0 is false. */
  from<const S extends Shape = number>(
    type: ScalarToken<"bool">,
    data: ArrayLike<number | boolean>,
    shape?: S,
    options?: ArrayOptions,
  ): View<"u8", RankOf<S>>;
  /** The same from a list of values, or of their components one after the other. */
  from<V, T extends ComponentType>(
    type: CompositeToken<V, unknown, T, never>,
    data: ArrayLike<number> | readonly V[],
    shape?: Shape,
    options?: ArrayOptions,
  ): View<T>;
  /** A new list for a kernel's parameter `list(type)`, with room for `capacity` elements. Throws LaunchError for another type, DeviceError if it does not fit. */
  list<T extends ListElement>(type: T, capacity: number): List<T>;
  /** Checks arguments against the kernel, compiles (or finds compiled), and binds. */
  prepare<P extends Params, K extends PolicyKind = PolicyKind>(
    kernel: Kernel<P, K>,
    args: Args<P>,
    policy: PolicyOf<K>,
    options?: LaunchOptions,
  ): Launch;
  /** Launches of range kernels can store in the memory of that device, too: see `PeerStore`. Undefined if they never can. */
  canPeerStore?(to: Device): boolean;
  /**
   * Launches, one for each part, that fold what `unfolded` launches of one kernel have left on all of them. Undefined if the devices do
   * not reach each other's memory.
   */
  fold?(parts: readonly FoldPart[]): Fold | undefined;
  /**
   * A pass of a stable sort, for a queue of the device; undefined where it has no fast one of its own. `kernel` does the same on other devices, and
   * gives it a name. Throws DeviceError where the device's memory does not suffice.
   */
  readonly digitSort?: (sort: DigitSort, kernel: Kernel) => Launch;
  /** A scan in one pass over its input, the same way: undefined where the device has none of its own. */
  readonly prefixScan?: (scan: PrefixScan, kernel: Kernel) => Launch;
  /** A product by cuBLAS, the same way: undefined where that does not run. Throws LaunchError where it is not installed. */
  readonly cublas?: (product: LibraryProduct, kernel: Kernel) => Launch;
  /** prepare, submit, wait, results. Rejected with the signal's reason where one has ended it. */
  run<P extends Params, K extends PolicyKind = PolicyKind>(
    kernel: Kernel<P, K>,
    args: Args<P>,
    policy: PolicyOf<K>,
    options?: DeviceRunOptions,
  ): Promise<Results<P>>;
  /** Stops workers, frees memory. Whatever is asked of the device and its queues afterwards throws DeviceError. */
  close(): Promise<void>;
}
/** The type of an array's elements: `f64`, `f32`, `i32`, `u32`, or one that arrays only store: `u8`, `i8`, `u16`, `i16`, `f16`, `bf16`. */
export type ElementToken<T extends ElementType> = { readonly type: T };
/** The type of a new array: of its elements, or of vectors and the like. */
export type ArrayToken<T extends ElementType> = ElementToken<T> | CompositeToken<unknown, unknown, Extract<T, ComponentType>, never>;
/** How a new array lies in memory. */
export interface ArrayOptions {
  layout?: LayoutName;
}

/** Report of `isoform doctor` on a backend. */
export interface BackendReport {
  backend: string;
  devices: { name: string; label: string; capabilities: Capabilities }[];
  /** Versions of what it found: engine, compiler, driver, runtime compiler. */
  versions: Record<string, string>;
  /** Reason why there is no device, and the remedy; undefined if there is one. */
  missing?: { reason: string; remedy: string };
}

/** Options for opening a device. */
export interface OpenOptions {
  /**
   * `emulate`: a device without f64 computes it as the sum of two f32, which is slower and has 44 bits at least in place of 53
   * (docs/webgpu.md). Devices that have f64 use their own.
   */
  f64?: "emulate";
  /** Launches are deterministic unless they say otherwise; see `LaunchOptions`. */
  deterministic?: boolean;
  /** Launches check their indices unless they say otherwise; see `LaunchOptions`. */
  checked?: boolean;
  /** Takes the lines that kernels print. Default: `console.log`. */
  print?: (line: string) => void;
  /** Launches are measured on first use, by `run` and by skeletons, and run with the values that were the fastest. */
  tune?: boolean;
  /** Values that win over what is measured. */
  tuning?: TuningFile;
  /** Threads of `js`, `wasm` and `native`, from 1 to 1024. Default: the machine's, or ISOFORM_THREADS. Other devices refuse it. */
  threads?: number;
}

/** One backend: what finds its devices and opens them. */
export interface Backend {
  readonly name: string;
  /** There is one device, and its name has no number. */
  readonly single?: true;
  /** It takes `threads` of the options; others get none. */
  readonly threaded?: true;
  /** Looks without starting anything lasting; fast (a doctor takes under half a second). */
  probe(): Promise<BackendReport>;
  /** `index` for names such as `cuda:1`. Throws DeviceError with reason and remedy. */
  open(index: number, options?: OpenOptions): Promise<Device>;
}
