import { hostname } from "node:os";
import { backends, deviceNames } from "../../device/open.js";
import { SPANNING } from "../../device/spanning.js";
import { DeviceError } from "../../base/errors.js";

/** Number of a rank on its node, and the node's count of ranks. */
export interface NodeRank {
  readonly rank: number;
  readonly count: number;
}

/**
 * The devices of one rank: a word without a number, such as `cuda`, is a GPU of its own where a backend may have several.
 * @throws DeviceError where the node has fewer of them than ranks
 */
export async function ownDevices(spec: string, node: NodeRank): Promise<string> {
  const known = await backends();
  const words = spec.split(",").map(async (word) => {
    const [, name, parts] = /^\s*([a-z][a-z-]*)(\*\d+)?\s*$/.exec(word) ?? [];
    const backend = known.find((one) => one.name === name);
    if (!backend || backend.single) return word;
    const names = await deviceNames(name);
    if (names.length < node.count)
      throw new DeviceError(
        name,
        `${names.length} for the ${node.count} ranks of ${hostname()}`,
        `start one rank for each, or name the one that ranks share: ${SPANNING}${name}:0`,
      );
    return `${name}:${node.rank}${parts ?? ""}`;
  });
  return (await Promise.all(words)).join();
}
