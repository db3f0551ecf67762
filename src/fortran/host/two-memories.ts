import { BYTES } from "../../ir/scalars.js";
import type { Buffer, View } from "../../device/memory/view.js";
import type { Indices } from "./touched.js";

/** Host or device, each with a memory of its own. */
export type MemorySide = "host" | "device";

export const otherSide = (side: MemorySide): MemorySide => (side === "host" ? "device" : "host");

/** Elements of a buffer, one byte each: 1 where the program's value has not come to a side, or where the program has given it any. */
interface Elements {
  readonly host: Uint8Array;
  readonly device: Uint8Array;
  readonly defined: Uint8Array;
}

/** The values that two memories lack, element by element. */
export class TwoMemories {
  private readonly buffers = new WeakMap<Buffer, Elements>();

  /** A new array, none of whose elements has a value. Other arrays begin with values that both sides have. */
  fresh(view: View): void {
    this.elementsOf(view).defined.fill(0);
  }

  /** Memory of the device that has nothing in it yet. */
  createdOnDevice(view: View): void {
    const { device, defined } = this.elementsOf(view);
    device.set(defined);
  }

  /** A copy of a view to a side: it has what the other one has. */
  copied(view: View, to: MemorySide): void {
    const elements = this.elementsOf(view);
    const [from, into] = [elements[otherSide(to)], elements[to]];
    eachElement(view, wholeOf(view), (at) => void (into[at] = from[at]));
  }

  /** Whether a side lacks some value of a part. */
  isLacking(view: View, part: readonly Indices[], side: MemorySide): boolean {
    const marks = this.elementsOf(view)[side];
    let found = false;
    eachElement(view, part, (at) => void (found ||= marks[at] === 1));
    return found;
  }

  /**
   * A side writes elements of a part.
   *
   * @param isCertain whether it writes all of them
   * @param isAlone whether the other side has such an array, too
   */
  written(view: View, part: readonly Indices[], side: MemorySide, isCertain: boolean, isAlone: boolean): void {
    const elements = this.elementsOf(view);
    const [own, others] = [elements[side], elements[otherSide(side)]];
    eachElement(view, part, (at) => {
      elements.defined[at] = 1;
      if (isCertain) own[at] = 0;
      if (!isAlone) others[at] = 1;
    });
  }

  private elementsOf({ buffer, type }: View): Elements {
    let elements = this.buffers.get(buffer);
    if (!elements) {
      const count = Math.ceil(buffer.bytes / BYTES[type]);
      elements = { host: new Uint8Array(count), device: new Uint8Array(count), defined: new Uint8Array(count).fill(1) };
      this.buffers.set(buffer, elements);
    }
    return elements;
  }
}

export const wholeOf = ({ shape }: View): Indices[] => shape.map((extent) => ({ low: 0, high: extent - 1, step: 1 }));

/** Visits the places in the buffer of a part's elements. */
function eachElement({ offset, strides }: View, part: readonly Indices[], visit: (at: number) => void): void {
  const along = (axis: number, start: number): void => {
    if (axis === part.length) return visit(start);
    const { low, high, step } = part[axis];
    for (let index = low; index <= high; index += step) along(axis + 1, start + index * strides[axis]);
  };
  along(0, offset);
}
