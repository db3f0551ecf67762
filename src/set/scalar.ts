import type { ElementToken, Queue } from "../device/device.js";
import { requireFitting, requireNumberElement, type View } from "../device/memory/view.js";
import type { NumberType } from "../ir/types.js";
import { IsoformError, LaunchError } from "../base/errors.js";
import type { DeviceSet } from "./device-set.js";
import { byLocal } from "./member.js";
import { requireAlike } from "./one-process.js";

/** One number that lives on the devices: every member has a copy, which kernels read and reductions write without the host. */
export class Scalar<T extends NumberType = NumberType> {
  readonly type: T;
  /** By member of this process. */
  private copies: readonly View<T>[];

  /** Zero at first. */
  constructor(
    readonly devices: DeviceSet,
    readonly name: string,
    { type }: ElementToken<T>,
  ) {
    requireNumberElement(`scalar "${name}"`, { type });
    this.type = type;
    this.copies = byLocal(devices, ({ device }) => device.array({ type }, 1));
  }

  /** One view of one element for each member of this process, at the member's number. */
  get views(): readonly View<T>[] {
    return this.copies;
  }

  /** Exchanges the values of two scalars of one set and type without a copy. */
  swap(other: Scalar): void {
    if (this.type !== other.type || this.devices !== other.devices)
      throw new LaunchError(`scalars "${this.name}" and "${other.name}" cannot be swapped: they need one set and one type`);
    const twin = other as unknown as Scalar<T>;
    [this.copies, twin.copies] = [twin.copies, this.copies];
  }

  /**
   * Sets all copies, in stream `stream` of each member.
   * @throws LaunchError for a value that the type cannot hold, IsoformError on all ranks where one gives another value
   */
  set(value: number, stream = 0): void {
    requireFitting(this.type, [value]);
    requireAlike(this.devices, `the value of scalar "${this.name}"`, [value]);
    for (const member of this.devices.locals) member.queue(stream).write(this.views[member.index], [value]);
  }

  /** The copy of this process's first member, once everything before in `queue` is done: stream 0 of the member where it is absent. */
  async get(queue: Queue = this.devices.locals[0].queue(0)): Promise<number> {
    return (await queue.read(this.views[this.devices.locals[0].index]))[0];
  }

  /** The same, refusing NaN: throws IsoformError that names the scalar and `where`, such as `skeleton "cg", iteration 12`. */
  async getNumber(where: string, queue?: Queue): Promise<number> {
    const value = await this.get(queue);
    if (Number.isNaN(value)) throw new IsoformError(`${where}: scalar "${this.name}" is NaN; js-debug or a smaller step may show why`);
    return value;
  }

  free(): void {
    this.views.forEach((view) => view.free());
  }
}
