import { hasLists } from "../../kernel/declare/flat.js";
import { listSupport } from "../../kernel/declare/list-support.js";
import { descending } from "../../kernel/read/depth.js";
import type { BindArguments } from "./binding.js";
import type { ListLaunch, prepareLists } from "./list-launch.js";

/** Prepares a launch of a kernel with lists, by the code that `list` brings along; undefined for other kernels. Throws as `prepareLists` does. */
export function launchWithLists({ device, kernel, args, policy, options, compile }: BindArguments): ListLaunch | undefined {
  if (!hasLists(kernel)) return undefined;
  const support = listSupport<{ prepareLists: typeof prepareLists }>();
  return descending(kernel, () => support.prepareLists(device, kernel, args, policy, options, compile));
}
