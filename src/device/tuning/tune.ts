import type { Device, Launch } from "../device.js";
import type { Policy } from "../launch/policy.js";
import type { Measured } from "../launch/chosen.js";

/**
 * Finds the fastest values for launches like this one, and has the device use them for those that are prepared from now on. Parameters
 * are tried one after the other, each with the best values of those before. The launch runs many times, with its own arguments, whose
 * contents are put back; nothing else may use them meanwhile. What was found for the same code, precision, class of extents, layouts, device
 * and driver before, in any process on this machine, is taken over.
 * @returns what is used from now on; undefined if the launch has its values from elsewhere or is deterministic, or there is nothing to choose
 * @throws DeviceError if the device fails
 */
export async function tune(device: Device, launch: Launch): Promise<Measured | undefined> {
  const { tuning } = launch;
  if (!tuning?.measurable) return undefined;
  if (Object.keys(tuning.tunables).length === 0 || isEmpty(launch.policy)) return undefined;
  const { measuredValues } = await import("./measured-values.js");
  return measuredValues(device, tuning);
}

const isEmpty = (policy: Policy): boolean => (policy.kind === "team" ? policy.league === 0 : policy.extents.includes(0));
