import { GpuDigitSort } from "./digit-sort.js";
import { GpuFold } from "./fold.js";
import { GpuLaunch } from "./launch.js";

/** Launches that streams of a GPU take. */
export type GpuWork = GpuLaunch | GpuFold | GpuDigitSort;

export const isGpuWork = (work: object): work is GpuWork =>
  work instanceof GpuLaunch || work instanceof GpuFold || work instanceof GpuDigitSort;
