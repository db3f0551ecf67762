import { BlockedView } from "../device/memory/blocked-view.js";
import type { Queue } from "../device/device.js";
import { typedArray, View, type NumberArrayOf } from "../device/memory/view.js";
import type { NumberElement } from "../ir/types.js";
import { LaunchError } from "../base/errors.js";
import { requireThing } from "../base/own.js";
import { deepCopy } from "./deep-copy.js";

/** Host memory for the elements of a view; nothing moves until `upload` or `download`. */
export class Mirror<T extends NumberElement = NumberElement> {
  /** In `right` order, whatever the view's layout; zero at first. */
  readonly host: NumberArrayOf<T>;

  constructor(
    readonly view: View<T> | BlockedView<T>,
    private readonly queue?: Queue,
  ) {
    this.host = typedArray(view.type, view.size) as NumberArrayOf<T>;
  }

  get shape(): readonly number[] {
    return this.view.shape;
  }

  /** Place in `host` of the element at these indices. Throws LaunchError for an index outside its axis. */
  index(...indices: readonly number[]): number {
    const { shape } = this;
    if (indices.length !== shape.length)
      throw new LaunchError(`mirror of a view of shape [${shape}]: ${indices.length} indices; give one for each axis`);
    return indices.reduce((at, index, axis) => {
      if (!Number.isInteger(index) || index < 0 || index >= shape[axis])
        throw new LaunchError(`mirror of a view of shape [${shape}]: index ${index} of axis ${axis}, which has extent ${shape[axis]}`);
      return at * shape[axis] + index;
    }, 0);
  }

  /** Copies the host's elements to the view, ordered in `queue`; resolves when they are there. */
  async upload(queue = this.queue): Promise<void> {
    await deepCopy(this.view, this.host, ...(queue ? [queue] : []));
  }

  /** Brings the view's elements to the host, as they are once everything before in `queue` is done. */
  async download(queue = this.queue): Promise<NumberArrayOf<T>> {
    await deepCopy(this.host, this.view, ...(queue ? [queue] : []));
    return this.host;
  }
}

/**
 * A host mirror of a view, of memory of its own on every device.
 * @param queue of the view's device, where it is a GPU's: what copies are ordered in unless told
 */
export const mirror = <T extends NumberElement>(view: View<T> | BlockedView<T>, queue?: Queue): Mirror<T> => {
  requireThing("mirror", view, view instanceof View || view instanceof BlockedView, "give a view");
  return new Mirror(view, queue);
};
