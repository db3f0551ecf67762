/** `isoform/backend`: what a backend is made of, for those who write one outside of the library (docs/backend-guide.md). */

/* Types of a backend, and its registration. */
export type {
  ArrayOptions,
  Args,
  Backend,
  BackendReport,
  Capabilities,
  Cost,
  Device,
  DeviceEvent,
  ArrayToken,
  ElementToken,
  Fold,
  FoldPart,
  Graph,
  Launch,
  LaunchOptions,
  List,
  OpenOptions,
  PeerStore,
  PolicyOf,
  Precision,
  Queue,
  Results,
  ScatterStrategy,
  TheoreticalPeaks,
} from "./device/device.js";
export { registerBackend } from "./device/open.js";

/* Launches: arguments checked and bound, and how their work is shared out. */
export { bind, requireLiveViews } from "./device/launch/bind.js";
export { writtenResults } from "./kernel/declare/flat.js";
export type { Binding } from "./device/launch/binding.js";
export { DeviceList } from "./device/launch/list.js";
export { ListLaunch, prepareLists } from "./device/launch/list-launch.js";
export { OtherNumbers } from "./device/launch/other-numbers.js";
export { freeTeamRows, residentTeams } from "./device/launch/team-rows.js";
export { atFirstUse, LaunchTuning, TuningTable, type Tunables, type Tuning } from "./device/tuning/tuning.js";

/* Reductions by the rule of docs/determinism.md. */
export { chunksPerLine, partialCount } from "./ir/launch.js";
export { foldLanes } from "./ir/lanes.js";
export { withInitialValues } from "./device/launch/initial-values.js";
export { foldOf, foldOfParam, foldPartials, finishReductions } from "./device/cpu/partials.js";

/* Indices that are checked while a kernel runs: what keeps the first that was outside, what tells it then, and what gives back its memory. */
export { noteFault } from "./device/cpu/note-fault.js";
export { takeFault } from "./device/cpu/take-fault.js";
export { giveBackFaultRecord } from "./device/launch/faults.js";

/* Lines that a kernel prints: what a record is made of, what prints the records, and what gives back their memory. */
export { PRINT_LIMIT, recordOf, type Recorded } from "./ir/print-records.js";
export { takeLines } from "./device/cpu/take-lines.js";
export { freePrintRecords } from "./device/launch/prints.js";

/* Memory: what views are made of, and views of memory that the host can reach. */
export {
  BYTES,
  elementTypeOf,
  newData,
  newShape,
  requireAlike,
  requireData,
  stridesOf,
  typedArray,
  View,
  type Buffer,
  type LayoutName,
  type MemorySpace,
  type TypedArray,
  type NumberArrayOf,
  type TypedArrayOf,
} from "./device/memory/view.js";
export { codingOf } from "./ir/scalars.js";
export { addressOf, clearView, copyView, hostArray, readView, spanOf, writeView } from "./device/cpu/host-view.js";

/* The memory that all CPU backends share, and what they have in common: a backend of this kind adds how a launch runs. */
export { CPU_MEMORY } from "./device/memory/view.js";
export { cpuStorage, type CpuBuffer } from "./device/cpu/storage.js";
export { CpuDevice } from "./device/cpu/cpu-device.js";
export type { CpuProgram } from "./device/cpu/launch.js";
export { cpuCapabilities, describeMachine } from "./device/cpu/machine.js";

/* Emitters: the code of a launch. */
export { emitJs, type JsTarget, type AllocatedView } from "./emit/js/index.js";
export { TARGETS, contiguousRows, cubicSizes, type EmitRequest, type EmittedFile } from "./emit/standalone/index.js";
export { emitWasm, type WasmKernel, type WasmSpec } from "./emit/wasm/module.js";
export { emitOpenMP, type OpenMPOptions, type OpenMPProgram } from "./emit/c/openmp.js";
export { emitCuda } from "./emit/c/cuda.js";
export { emitHip } from "./emit/c/hip.js";
export type { GpuAssumptions, GpuProgram } from "./schedule/program.js";
export { emitWgsl } from "./emit/wgsl/kernel.js";
export type { WgslAssumptions, WgslProgram } from "./emit/wgsl/shader-program.js";
