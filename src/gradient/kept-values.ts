import type { Device } from "../device/device.js";
import { BlockedView, storageOf, type AnyView } from "../device/memory/blocked-view.js";
import { overlap, sameElements } from "../device/memory/overlap.js";
import { BYTES, stridesOf, View, type Buffer } from "../device/memory/view.js";
import { writeCount } from "../device/memory/writes.js";

/** The elements of a view as they were before a launch. They are in the view until it is written; then in a copy. */
export interface KeptValue {
  readonly view: AnyView;
  /** Present once the view was about to be written. */
  copy?: AnyView;
  /** Writes to its memory when the values were there last. */
  writes: number;
}

/** Values that adjoints of a tape need: views stay where they are, and are copied before the tape's own launches write them. */
export class KeptValues {
  /** Values without a copy, by memory. */
  private readonly inPlace = new Map<Buffer, KeptValue[]>();
  private readonly owned: View[] = [];
  /** Copies that were made, and their bytes. */
  copies = 0;
  bytes = 0;

  constructor(private readonly device: Device) {}

  /** Keeps the present values of a view. */
  keep(view: AnyView): KeptValue {
    const { buffer } = storageOf(view);
    const kept: KeptValue = { view, writes: writeCount(buffer) };
    const others = this.inPlace.get(buffer) ?? [];
    others.push(kept);
    this.inPlace.set(buffer, others);
    return kept;
  }

  /** Copies what is kept in views that are about to be written. Values that were written by others stay where they are, to be refused later. */
  beforeWrites(written: readonly AnyView[]): void {
    const made: { readonly of: View; readonly copy: View }[] = [];
    for (const target of written.map(storageOf)) {
      const kept = this.inPlace.get(target.buffer) ?? [];
      for (const value of kept) {
        const from = storageOf(value.view);
        if (!isIntact(value) || !overlap(from, target)) continue;
        let copy = made.find(({ of }) => sameElements(of, from))?.copy;
        if (!copy) made.push({ of: from, copy: (copy = this.copyOf(from)) });
        value.copy = value.view instanceof BlockedView ? new BlockedView(copy, value.view.length) : copy;
      }
      this.inPlace.set(
        target.buffer,
        kept.filter(({ copy }) => !copy),
      );
    }
  }

  /** Follows writes of the tape's own launches, which have left what is kept as it was. `before`: the counts before them, by memory. */
  afterWrites(before: ReadonlyMap<Buffer, number>): void {
    for (const [buffer, count] of before)
      for (const value of this.inPlace.get(buffer) ?? []) if (value.writes === count) value.writes = writeCount(buffer);
  }

  private copyOf(view: View): View {
    const { type, shape } = view;
    const array = this.device.array({ type }, shape);
    this.device.queue.copy(view, array);
    this.owned.push(array);
    this.copies++;
    this.bytes += array.size * BYTES[type];
    return array;
  }

  /** Gives back the copies. */
  free(): void {
    for (const view of this.owned.splice(0)) view.free();
    this.inPlace.clear();
    this.bytes = 0;
  }
}

/** True while the values are in their copy, or where they were. */
export function isIntact({ view, copy, writes }: KeptValue): boolean {
  const { buffer } = storageOf(view);
  return copy !== undefined || (buffer.live !== false && writeCount(buffer) === writes);
}

/** All of a piece of memory as one view of words, or of bytes. */
export function wholeMemory(buffer: Buffer): View {
  const type = buffer.bytes % BYTES.u32 === 0 ? "u32" : "u8";
  const shape = [buffer.bytes / BYTES[type]];
  return new View(buffer, type, shape, stridesOf(shape, "right"));
}
