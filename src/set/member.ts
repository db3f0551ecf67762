import type { Device, Queue } from "../device/device.js";
import { DeviceError, IsoformError } from "../base/errors.js";

/** One device of a set, or a sub-device: a part of one that is divided. It may belong to another process of the set. */
export interface Member {
  /** Number among the members of all processes, rank by rank. */
  readonly index: number;
  /** Its process; 0 where the set has one. */
  readonly rank: number;
  /** `cuda:1`, or `wasm*3[1]` for the second of three that share a device. */
  readonly name: string;
}

/** A member of this process. */
export interface LocalMember extends Member {
  readonly device: Device;
  /** Stream number `n` from 0 of this member, made on first use. Queues of a CPU device run in order, here and now. */
  queue(n: number): Queue;
}

/** Members of a set, as functions over them need them. */
interface Members {
  readonly members: readonly Member[];
  readonly locals: readonly LocalMember[];
}

/** A member of another process. Programs in JavaScript that ask for its device or a queue are told why there is none. */
export class RemoteMember implements Member {
  constructor(
    readonly index: number,
    readonly rank: number,
    readonly name: string,
  ) {}

  get device(): never {
    throw this.error();
  }

  queue(): never {
    throw this.error();
  }

  error(): DeviceError {
    return new DeviceError(this.name, `member ${this.index} belongs to rank ${this.rank}`, "use a member of set.locals");
  }
}

/** True for a member of this process. */
export const isLocal = (member: Member): member is LocalMember => !(member instanceof RemoteMember);

/** The member of a number, which must be of this process. */
export function localOf({ members }: Pick<Members, "members">, index: number): LocalMember {
  const member = members[index];
  if (member instanceof RemoteMember) throw member.error();
  return member as LocalMember;
}

/** Something for one member, if it is of this process. */
export function ifLocal<T>({ members }: Pick<Members, "members">, index: number, make: (member: LocalMember) => T): T | undefined {
  const member = members[index];
  return isLocal(member) ? make(member) : undefined;
}

/** Something for each member of this process, at the member's number; the places of other members are holes, which `forEach`, `map` and `flatMap` skip. */
export function byLocal<T>({ members, locals }: Members, make: (member: LocalMember, index: number) => T): T[] {
  const made = Array<T>(members.length);
  for (const member of locals) made[member.index] = make(member, member.index);
  return made;
}

/** A member of this process, with its queues. */
export class OpenMember implements LocalMember {
  private readonly queues: Queue[] = [];

  /**
   * @param first whether its stream 0 is the device's own
   * @param requireOpen throws once the set is closed
   */
  constructor(
    readonly index: number,
    readonly rank: number,
    readonly device: Device,
    readonly name: string,
    private readonly first: boolean,
    private readonly requireOpen: () => void,
  ) {}

  queue(n: number): Queue {
    this.requireOpen();
    if (!Number.isInteger(n) || n < 0) throw new IsoformError(`stream ${n} of ${this.name}: streams are numbered from 0`);
    return (this.queues[n] ??= n === 0 && this.first ? this.device.queue : this.device.createQueue());
  }
}
