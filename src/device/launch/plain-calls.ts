import type { Binding, BindArguments } from "./binding.js";

/** True for a call without options and values of tuning that the next call of its kernel need not have. */
export function isPlainCall({ device, kernel, options }: Pick<BindArguments, "device" | "kernel" | "options">): boolean {
  return (
    options &&
    !options.tuning &&
    !options.partials &&
    !options.unfolded &&
    !options.peerStores &&
    !options.scatter &&
    device.tuning.isDefault(kernel.name)
  );
}

/**
 * True for a launch that leaves code and memory to the next one: it has no memory beside its views that somebody looks at or gives back, as
 * records of faults and lines, rows of teams and copies of targets are.
 */
export function leavesAll({ call, ir, views, outputs }: Binding): boolean {
  return (
    isPlainCall(call) &&
    Object.values(outputs).every((view) => view === undefined) &&
    !ir.params.some(({ kind }) => kind === "scatter") &&
    Object.entries(views).every(([name, view]) => view === call.args[name])
  );
}
