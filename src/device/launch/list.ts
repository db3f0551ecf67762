import { describe } from "../../base/describe.js";
import { LaunchError } from "../../base/errors.js";
import { unreachable } from "../../base/unreachable.js";
import { compositeOf } from "../../kernel/declare/composite.js";
import { listTypeName } from "../../kernel/declare/flat.js";
import type { ListElement } from "../../kernel/declare/params.js";
import { structOf } from "../../kernel/declare/struct.js";
import type { Device, ElementToken, List, ListArrays, StructArrays } from "../device.js";
import { structArrays } from "../struct-arrays.js";
import type { View } from "../memory/view.js";
import type { ElementType } from "../../ir/types.js";

/** Entries of a list's state, an i32 each. */
export const LIST_STATE = {
  /** Elements that it holds. */
  count: 0,
  /** Elements that were appended; more where there was no room for all. */
  appended: 1,
  /** The greatest number that one element of the range has appended, where the code does not tell. */
  peak: 2,
  /** How often an element may append, where that is counted, else 0. */
  most: 3,
  /** The number, in the list, of the kernel that has filled it. */
  filler: 4,
  /** Entries. */
  length: 5,
} as const;

/** A kernel that fills a list, and its name for the list, for messages. */
interface Filler {
  readonly name: string;
  readonly kernel: string;
}

/** A list in a device's memory. */
export class DeviceList<T extends ListElement = ListElement> implements List<T> {
  readonly view: ListArrays<T>;
  readonly count: View<"i32", 1>;
  /** Arrays of the parts of its elements. */
  readonly arrays: readonly View[];
  readonly state: View<"i32", 1>;
  private readonly fillers: Filler[] = [];

  constructor(
    readonly device: Device,
    readonly of: T,
    readonly capacity: number,
  ) {
    const known = ["scalar", "storage", "composite", "struct"].includes((of as Partial<T> | undefined)?.kind as string);
    if (!known) throw new LaunchError(`device.list(...) is given ${describe(of)} for a type; use f64, i32, u8, vec3, a struct or the like`);
    if (!(Number.isInteger(capacity) && capacity >= 1 && capacity <= MOST))
      throw new LaunchError(
        `device.list(${listTypeName(of)}, ...) is given ${describe(capacity)} for its capacity; give a whole number from 1 to ${MOST}`,
      );
    const view =
      of.kind === "struct" ? structArrays(device, of as never, capacity) : device.array(of as ElementToken<ElementType>, capacity);
    this.view = view as ListArrays<T>;
    this.arrays = of.kind === "struct" ? leavesOf(view as StructArrays<never>) : [view as View];
    this.state = device.array(I32, LIST_STATE.length);
    this.count = this.state.slice([LIST_STATE.count, LIST_STATE.count + 1]) as View<"i32", 1>;
  }

  /** The number of a kernel that fills the list. */
  numberOf({ name, kernel }: Filler): number {
    const found = this.fillers.findIndex((filler) => filler.name === name && filler.kernel === kernel);
    return found >= 0 ? found : this.fillers.push({ name, kernel }) - 1;
  }

  async length(): Promise<number> {
    return this.lengthIn(await this.device.queue.read(this.state));
  }

  /** The length that its state tells. Throws LaunchError where the list is not what it should be. */
  lengthIn(state: ArrayLike<number>): number {
    const { count, appended, peak, most } = stateOf(state);
    const { name = "the list", kernel = "" } = this.fillers[state[LIST_STATE.filler]] ?? {};
    const type = listTypeName(this.of);
    if (most > 0 && peak > most)
      throw new LaunchError(
        `kernel "${kernel}": an element has appended to ${name} ${peak} times, and the list takes ${most} of each: declare list(${type}, ${peak})`,
      );
    if (appended > this.capacity)
      throw new LaunchError(
        `${name} has room for ${this.capacity} elements and ${appended === MOST ? `${MOST} or more` : appended} were appended: give device.list(${type}, ${appended})`,
      );
    return count;
  }

  free(): void {
    for (const array of [...this.arrays, this.state]) array.free();
  }
}

const stateOf = (state: ArrayLike<number>) => ({
  count: state[LIST_STATE.count],
  appended: state[LIST_STATE.appended],
  peak: state[LIST_STATE.peak],
  most: state[LIST_STATE.most],
});

/** The greatest i32, at which counts stop. */
const MOST = 0x7fffffff;
const I32: ElementToken<"i32"> = { type: "i32" };

const isView = (value: object): value is View => "buffer" in value;
const leavesOf = (arrays: object): View[] => Object.values(arrays).flatMap((each: object) => (isView(each) ? [each] : leavesOf(each)));

/** Whether a list is of the type that a kernel declares. */
export function isListOf(declared: ListElement, given: ListElement): boolean {
  switch (declared.kind) {
    case "composite":
      return compositeOf(given) === declared.composite;
    case "struct":
      return structOf(given) === declared.struct;
    case "scalar":
    case "storage":
      return given.kind === declared.kind && given.type === declared.type;
    case "stored":
      return given.kind === "storage" && given.type === declared.element;
    default:
      return unreachable(declared);
  }
}
