import type { ElementToken, Queue } from "../device/device.js";
import { requireFitting, type View } from "../device/memory/view.js";
import type { NumericType } from "../ir/types.js";
import { IsoformError, LaunchError } from "../ir/errors.js";
import type { DeviceSet, Member } from "./device-set.js";

/** One number that lives on the devices: every member has a copy, which kernels read and reductions write without the host. */
export class Scalar<T extends NumericType = NumericType> {
  readonly type: T;
  private copies: readonly View<T>[];
  private readonly members: readonly Member[];

  /** Zero at first. */
  constructor(
    { members }: DeviceSet,
    readonly name: string,
    { type }: ElementToken<T>,
  ) {
    this.type = type;
    this.members = members;
    this.copies = members.map(({ device }) => device.array({ type }, 1));
  }

  /** One view of one element for each member. */
  get views(): readonly View<T>[] {
    return this.copies;
  }

  /** Exchanges the values of two scalars of one set and type without a copy. */
  swap(other: Scalar): void {
    if (this.type !== other.type || this.members !== other.members)
      throw new LaunchError(`scalars "${this.name}" and "${other.name}" cannot be swapped: they need one set and one type`);
    const twin = other as unknown as Scalar<T>;
    [this.copies, twin.copies] = [twin.copies, this.copies];
  }

  /** Sets all copies, in stream `stream` of each member. Throws LaunchError for a value that the type cannot hold. */
  set(value: number, stream = 0): void {
    requireFitting(this.type, [value]);
    this.members.forEach((member, n) => member.queue(stream).write(this.views[n], [value]));
  }

  /** The copy of the first member, once everything before in `queue` is done: stream 0 of the member where it is absent. */
  async get(queue: Queue = this.members[0].queue(0)): Promise<number> {
    return (await queue.read(this.views[0]))[0];
  }

  /** The same, refusing NaN: throws IsoformError that names the scalar and `where`, such as `skeleton "cg", iteration 12`. */
  async getNumber(where: string, queue?: Queue): Promise<number> {
    const value = await this.get(queue);
    if (Number.isNaN(value)) throw new IsoformError(`${where}: scalar "${this.name}" is NaN; js-debug or a smaller step may show why`);
    return value;
  }

  free(): void {
    for (const view of this.views) view.free();
  }
}
