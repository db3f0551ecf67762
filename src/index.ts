export { helper, type Capture, type Captures } from "./kernel/declare/captures.js";
export { kernel, teamKernel, type Kernel } from "./kernel/declare/kernel.js";
export {
  argmax,
  argmin,
  assign,
  atomic,
  bool,
  f32,
  f64,
  fixed,
  i32,
  max,
  min,
  reducer,
  scatter,
  sum,
  table,
  u32,
  i64,
  u64,
  view,
  type AssignToken,
  type AtomicToken,
  type CompositeReduceToken,
  type CompositeScatterToken,
  type CompositeViewToken,
  type ExtremumToken,
  type FixedToken,
  type ListElement,
  type ListToken,
  type Params,
  type ReduceEachToken,
  type ReduceIntoToken,
  type ReduceToken,
  type ScalarToken,
  type ScatterToken,
  type StructReduceToken,
  type StructViewToken,
  type TableToken,
  type TruthViewToken,
  type ViewToken,
} from "./kernel/declare/params.js";
export { bf16, f16, i16, i8, stored, u16, u8, type StorageToken, type StoredToken } from "./kernel/declare/storage.js";
export type { BodyParams, Team } from "./kernel/declare/body.js";
export {
  vec2,
  vec2f,
  vec2i,
  vec3,
  vec3f,
  vec3i,
  vec4,
  vec4f,
  vec4i,
  type Vec2,
  type Vec2i,
  type Vec2iPlace,
  type Vec2Place,
  type Vec3,
  type Vec3i,
  type Vec3iPlace,
  type Vec3Place,
  type Vec4,
  type Vec4i,
  type Vec4iPlace,
  type Vec4Place,
} from "./kernel/declare/vectors.js";
export {
  mat2,
  mat2f,
  mat3,
  mat3f,
  mat4,
  mat4f,
  type Mat2,
  type Mat2Place,
  type Mat3,
  type Mat3Place,
  type Mat4,
  type Mat4Place,
} from "./kernel/declare/matrices.js";
export { complex, complexf, type Complex, type ComplexPlace } from "./kernel/declare/complex.js";
export { quat, quatf, type Quat, type QuatPlace } from "./kernel/declare/quaternions.js";
export { list } from "./device/launch/list-param.js";
export { structArrays, structArraysFrom } from "./device/struct-arrays.js";
export { struct, type StructPlace, type StructToken, type StructValue } from "./kernel/declare/struct.js";
export type { CompositeToken } from "./kernel/declare/composite.js";
export { array } from "./kernel/declare/private-arrays.js";
export { copysign, mulhi, powi, print, span } from "./kernel/declare/builtins.js";
export { ContainerError, DeviceError, IsoformError, KernelError, LaunchError } from "./base/errors.js";
export { range, teams, type Policy, type RangePolicy, type TeamPolicy } from "./device/launch/policy.js";
export {
  View,
  stridesOf,
  type Buffer,
  type LayoutName,
  type MemorySpace,
  type TypedArray,
  type NumberArrayOf,
  type TypedArrayOf,
} from "./device/memory/view.js";
export type {
  Capabilities,
  Args,
  StructArrays,
  List,
  ListArrays,
  ArrayOptions,
  Backend,
  BackendReport,
  Cost,
  Device,
  DeviceEvent,
  Graph,
  Launch,
  LaunchOptions,
  DeviceRunOptions,
  OpenOptions,
  Placed,
  PolicyOf,
  Precision,
  Queue,
  Results,
  ScatterStrategy,
  TheoreticalPeaks,
} from "./device/device.js";
export { region } from "./device/tools/tools.js";
export type { BlockedView } from "./device/memory/blocked-view.js";
export { tune } from "./device/tuning/tune.js";
export {
  atFirstUse,
  type LaunchTuning,
  type Measured,
  type Tunables,
  type Tuning,
  type TuningFile,
  type TuningTable,
} from "./device/tuning/tuning.js";
export { backendNames, doctor, open } from "./device/open.js";
export { compileKernel, type CompiledKernel } from "./kernel/compile.js";
