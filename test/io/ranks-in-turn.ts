import assert from "node:assert/strict";
import { deserialize, serialize } from "node:v8";
import type { DeviceSet, Ranks } from "../../src/set/index.js";

/*
 * Ranks within one process, for tests of files that processes write together: each is a function, and they wait for each other where processes do.
 */

/** A call that all ranks make. */
interface Meeting {
  readonly what: string | undefined;
  readonly values: Promise<unknown[]>;
  readonly give: ((value: unknown) => void)[];
}

class Meetings {
  private readonly all: Meeting[] = [];

  constructor(private readonly count: number) {}

  /** Call number `n` of a rank. */
  join(n: number, rank: number, what: string | undefined, value: unknown): Promise<unknown[]> {
    const meeting = (this.all[n] ??= this.open(what));
    assert.equal(what, meeting.what, `call ${n} of rank ${rank}`);
    meeting.give[rank](value instanceof Promise ? value : deserialize(serialize(value)));
    return meeting.values;
  }

  private open(what: string | undefined): Meeting {
    const give: Meeting["give"] = [];
    const values = Promise.all(Array.from({ length: this.count }, () => new Promise((resolve) => give.push(resolve))));
    return { what, values, give };
  }
}

function rankOf(meetings: Meetings, rank: number, count: number): Ranks {
  let calls = 0;
  const gather = <T>(value: T | Promise<T>, what?: string): Promise<T[]> => meetings.join(calls++, rank, what, value) as Promise<T[]>;
  return {
    rank,
    count,
    gather,
    agree: async (value, what) => (await gather(value, what))[0],
    barrier: async (what) => void (await gather(0, what)),
    first: (work) => Promise.resolve(work()),
    requireAlike: () => undefined,
  };
}

/** Does something as each of several ranks, and gives the results, or the errors, by rank. */
export async function onRanks<T>(count: number, work: (set: DeviceSet, rank: number) => Promise<T>): Promise<(T | Error)[]> {
  const meetings = new Meetings(count);
  const each = Array.from({ length: count }, (_, rank) => work({ ranks: rankOf(meetings, rank, count) } as DeviceSet, rank));
  return (await Promise.allSettled(each)).map((ended) => (ended.status === "fulfilled" ? ended.value : (ended.reason as Error)));
}
