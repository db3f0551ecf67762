import type { ElementType } from "../../ir/types.js";
import type { Rank } from "../../kernel/declare/params.js";
import { LaunchError } from "../../base/errors.js";
import { INSPECT } from "../../base/inspect.js";
import type { Buffer, View } from "./view.js";

/** Argument of a kernel's view or scatter parameter. */
export type AnyView = View | BlockedView;

declare const RANK: unique symbol;

/**
 * A view whose first index is split: element i lies at place i mod b of block i div b (the AoSoA layout). Kernels take it wherever they take
 * a view of its type and rank, 1 or 2, and index it alike. Queues know plain views only; `deepCopy` and `mirror` know both.
 */
// oxlint-disable-next-line typescript/no-explicit-any
export class BlockedView<T extends ElementType = ElementType, R extends Rank = any> {
  /** For the type checker alone. */
  declare readonly [RANK]?: R;
  readonly shape: readonly number[];

  /**
   * @param storage [blocks][b], or [blocks][components][b] of rank 2, where b is a power of two
   * @param length extent of the first axis; what the last block has beyond it is nobody's
   */
  constructor(
    readonly storage: View<T>,
    length: number,
  ) {
    const { rank, shape } = storage;
    const block = shape[rank - 1];
    if (!Number.isInteger(length) || length < 0)
      throw new LaunchError(`${length} elements in a blocked view: give a whole number, 0 or more`);
    if (rank < 2 || rank > 3 || (block & (block - 1)) !== 0 || Math.ceil(length / block) !== shape[0])
      throw new LaunchError(`${length} elements in storage of shape [${shape}]: it needs whole blocks of a power of two`);
    this.shape = [length, ...shape.slice(1, -1)];
  }

  get type(): T {
    return this.storage.type;
  }
  get buffer(): Buffer {
    return this.storage.buffer;
  }
  get rank(): number {
    return this.shape.length;
  }
  /** Extent of the first axis, as for an array. */
  get length(): number {
    return this.shape[0];
  }
  /** Number of elements. */
  get size(): number {
    return this.shape.reduce((a, b) => a * b, 1);
  }
  /** Elements of one block, a power of two. */
  get block(): number {
    return this.storage.shape[this.storage.rank - 1];
  }

  [INSPECT](): string {
    return `BlockedView ${this.type} [${this.shape.join(", ")}] in blocks of ${this.block}`;
  }
}

/** The plain view of a view's memory. */
export const storageOf = (view: AnyView): View => (view instanceof BlockedView ? view.storage : view);
