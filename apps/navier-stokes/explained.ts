import type { DeviceSet } from "isoform/set";
import type { Skeleton, SkeletonSettings } from "isoform/skeleton";
import { askedBox } from "../box.js";
import { channelFlow } from "./cases/channel.js";
import { configOf } from "./config/config.js";
import { denseOnly } from "./dense-only.js";
import { Simulation } from "./simulation/simulation.js";

const SIZE = 16;

/** For `isoform explain`: a channel whose sensor chooses between central fluxes and WENO. */
export async function makeSkeleton(
  set: DeviceSet,
  { grid, layout, occ, precision, split, fuse, unroll, ...asked }: SkeletonSettings,
): Promise<Skeleton> {
  const { size, planes } = askedBox(asked, 3, SIZE);
  const flow = channelFlow(configOf("channel", { nx: size, ny: size, nz: planes, sensorThreshold: 0.2 }));
  return (await Simulation.create(set, flow, { layout: denseOnly(grid, layout), occ, precision, split, fuse, unroll })).skeleton;
}
