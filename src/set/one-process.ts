import { CPU_MEMORY } from "../device/memory/view.js";
import { DeviceError } from "../base/errors.js";
import { agreedByAll } from "./job.js";
import type { LocalMember } from "./member.js";
import type { Ranks } from "./ranks.js";

/** Properties of a set that tell whether it spans several processes. */
interface Spanning {
  readonly name: string;
  readonly ranks?: Ranks;
}

/** Whether a set spans several processes. */
export const spansProcesses = ({ ranks }: Pick<Spanning, "ranks">): boolean => ranks !== undefined && ranks.count > 1;

/** Whether something holds in some process of a set; all of them ask, for the same thing. */
export async function onAnyRank({ ranks }: Pick<Spanning, "ranks">, holds: boolean, what: string): Promise<boolean> {
  return ranks ? (await ranks.gather(holds, what)).includes(true) : holds;
}

/** The value of the first rank that has one, on all ranks; all of them ask, for the same thing. */
export async function ofFirstRank<T>(
  { ranks }: Pick<Spanning, "ranks">,
  own: T | undefined | Promise<T | undefined>,
  what: string,
): Promise<T | undefined> {
  return ranks ? (await ranks.gather(own, what)).find((each) => each !== undefined) : own;
}

/** Refuses numbers from the host that are not the same in all processes of a set; all of them call it, and wait. Throws IsoformError on all ranks. */
export function requireAlike({ ranks }: Pick<Spanning, "ranks">, what: string, values: ArrayLike<number>): void {
  if (spansProcesses({ ranks })) ranks!.requireAlike(what, [new Uint8Array(Float64Array.from(values).buffer)]);
}

/** Refuses a set of several processes for what lies in one. Throws DeviceError, on all ranks alike. */
export function requireOneProcess(what: string, { name, ranks }: Spanning): void {
  if (ranks && ranks.count > 1)
    throw agreedByAll(
      new DeviceError(name, `${what} cannot span ${ranks.count} processes yet`, "run one process, or see docs/nodes.md for what works"),
    );
}

/** Refuses devices whose memory messages cannot reach in a set of several processes. Throws DeviceError, on all ranks alike. */
export function requireReachable({ name, ranks, locals }: Spanning & { readonly locals: readonly LocalMember[] }): void {
  const apart = locals.find(({ device }) => device.memory !== CPU_MEMORY && !device.hostMemory);
  if (apart && spansProcesses({ ranks }))
    throw agreedByAll(
      new DeviceError(
        name,
        `a grid cannot span ${ranks!.count} processes with ${apart.name}, whose memory cannot be read while the program waits`,
        "use cuda, hip, opencl, wasm, native or js, or one process",
      ),
    );
}
