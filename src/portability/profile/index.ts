export { nvtx, type Nvtx } from "./nvtx.js";
export {
  profileJson,
  profileText,
  rooflineShare,
  type MemoryUse,
  type PeaksByDevice,
  type Profile,
  type ProfileRow,
  type RegionTime,
  type Span,
} from "./profile.js";
export { Profiler, type ProfilerOptions } from "./profiler.js";
export { profileTrace } from "./trace.js";
