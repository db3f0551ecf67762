import { GpuFold } from "./fold.js";
import { GpuLaunch } from "./launch.js";
import { OwnWork } from "./own-work.js";

/** Launches that streams of a GPU take. */
export type GpuWork = GpuLaunch | GpuFold | OwnWork;

export const isGpuWork = (work: object): work is GpuWork => work instanceof GpuLaunch || work instanceof GpuFold || work instanceof OwnWork;
