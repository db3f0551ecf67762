import type { KernelError } from "../../base/errors.js";
import { FAULT } from "../../ir/passes/check-indices.js";
import { faultError, type FaultBinding } from "../launch/faults.js";
import { hostArray } from "./host-view.js";

/** The error of an index that was outside since it was last asked for, whose record is in the host's memory. */
export function takeFault(launch: FaultBinding): KernelError | undefined {
  const { checks } = launch.ir;
  const record = checks && hostArray(launch.views[checks.record]);
  if (!record || record[FAULT.failed] === 0) return undefined;
  const fault = faultError(launch, record);
  record.fill(0);
  return fault;
}
