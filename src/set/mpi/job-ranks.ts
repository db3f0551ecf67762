import { createHash } from "node:crypto";
import { IsoformError } from "../../base/errors.js";
import { agreedByAll } from "../job.js";
import type { Ranks } from "../ranks.js";
import type { Communicator } from "./communicator.js";
import { listed, together } from "../together.js";

/** Ranks by MPI. */
export class JobRanks implements Ranks {
  readonly rank: number;
  readonly count: number;

  /**
   * @param blocking all ranks, for calls that block the thread
   * @param node the ranks of this node
   */
  constructor(
    private readonly world: Communicator,
    private readonly blocking: Communicator,
    private readonly node: Communicator,
  ) {
    this.rank = world.rank;
    this.count = world.count;
  }

  agree<T>(value: T, what = "a value of rank 0"): Promise<T> {
    return this.world.share(value, 0, what);
  }

  async first<T>(work: () => T | Promise<T>): Promise<T> {
    const leads = this.node.rank === 0;
    const led = await together(this.world, async () => (leads ? { result: await work() } : undefined));
    const followed = await together(this.world, async () => led ?? { result: await work() });
    return followed.result;
  }

  gather<T>(value: T | Promise<T>, what = "values of all ranks"): Promise<T[]> {
    return this.world.exchange(value, what);
  }

  requireAlike(what: string, content: string | Iterable<string | Uint8Array>): void {
    const hash = createHash("sha256");
    for (const part of typeof content === "string" ? [content] : content) hash.update(part);
    const own = hash.digest();
    const all = this.blocking.gatherNow(own, what);
    const digest = (rank: number): Uint8Array => all.subarray(rank * own.length, (rank + 1) * own.length);
    const others = Array.from({ length: this.count }, (_, rank) => rank).filter((rank) => Buffer.compare(digest(rank), digest(0)) !== 0);
    if (others.length === 0) return;
    const differ = others.length > 1 ? `ranks ${listed(others)} differ` : `rank ${others[0]} differs`;
    throw agreedByAll(new IsoformError(`${differ} from rank 0 in ${what}: run the same program with the same options on all ranks`));
  }

  barrier(what?: string): Promise<void> {
    return this.world.barrier(what);
  }
}
