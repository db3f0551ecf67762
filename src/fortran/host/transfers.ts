/*
 * Data that directives would keep on a device and copy, while a routine runs with one memory: counted, and compared with what the statements need where
 * host and device have memories of their own.
 */

import type { Buffer, View } from "../../device/memory/view.js";
import { BYTES } from "../../ir/scalars.js";
import type { Location } from "../../ir/types.js";
import { declaredAs } from "../data/arrays.js";
import type { DataItem } from "../data/items.js";
import { Problems } from "../errors.js";
import type { LoweredKernel } from "../lower/kernels.js";

/** Copies that a run's directives ask for, as OpenACC and OpenMP count them. */
export interface TransferCounts {
  copiesToDevice: number;
  bytesToDevice: number;
  copiesFromDevice: number;
  bytesFromDevice: number;
  /** Places at which a program with two memories may get other values: one side reads an array that the other has written. Parts are not told apart. */
  readonly differences: string[];
}

/** An array that is on the device. */
interface Present {
  structured: number;
  dynamic: number;
  lasting: boolean;
}

/** The side that has written an array since its two copies were alike. */
type Side = "host" | "device";

/** A kernel that a run launches. */
interface Launch {
  readonly lowered: LoweredKernel;
  readonly views: ReadonlyMap<string, View>;
  readonly at: Location;
  readonly side: Side;
  /** The clauses of a loop, by the arrays' names. */
  readonly items: ReadonlyMap<string, DataItem>;
}

export class Transfers {
  readonly counts: TransferCounts = { copiesToDevice: 0, bytesToDevice: 0, copiesFromDevice: 0, bytesFromDevice: 0, differences: [] };
  private readonly present = new Map<Buffer, Present>();
  private readonly newer = new Map<Buffer, Side>();

  enter(view: View, { enter, always }: DataItem, isDynamic: boolean): void {
    if (enter === undefined) return;
    const known = this.present.get(view.buffer);
    if (!known && enter === "no_create") return;
    const held = known ?? { structured: 0, dynamic: 0, lasting: false };
    this.present.set(view.buffer, held);
    held[isDynamic ? "dynamic" : "structured"]++;
    if (enter === "copyin" && (!known || always)) this.toDevice(view);
    else if (!known) this.newer.delete(view.buffer);
  }

  leave(view: View, { exit, always, finalize }: DataItem, isDynamic: boolean): void {
    const held = this.present.get(view.buffer);
    if (!held || exit === undefined) return;
    const count = isDynamic ? "dynamic" : "structured";
    held[count] = finalize ? 0 : Math.max(0, held[count] - 1);
    const isLast = held.structured === 0 && held.dynamic === 0 && !held.lasting;
    if (exit === "copyout" && (isLast || always)) this.toHost(view);
    if (!isLast) return;
    this.present.delete(view.buffer);
    // The host is left with what it has.
    if (exit === "delete" && this.newer.get(view.buffer) !== "device") this.newer.delete(view.buffer);
  }

  update(view: View, { update }: DataItem): void {
    if (!this.present.has(view.buffer)) return;
    if (update === "self") this.toHost(view);
    else if (update === "device") this.toDevice(view);
  }

  /** Notes the arrays that a kernel reads and writes; counts copies of absent ones. */
  launched({ lowered, views, at, side, items }: Launch): void {
    const reads = readIn(lowered);
    for (const [param, view] of views) {
      const { name, variable } = lowered.sources.get(param)!;
      const item = items.get(name);
      const declared = declaredAs(variable, new Problems());
      if (declared?.enter && !this.present.has(view.buffer)) this.present.set(view.buffer, { structured: 0, dynamic: 0, lasting: true });
      const isWritten = lowered.ir.params.some((each) => each.name === param && each.kind === "view" && each.disjoint === true);
      const { buffer } = view;
      const other = side === "host" ? "device" : "host";
      const isAbsent = side === "device" && !this.present.has(buffer);
      // Copies of what another region has left on the device are old.
      const isOld = this.newer.get(buffer) === (isAbsent ? "device" : other);
      if (reads.has(param) && isOld) this.differs(name, at, side);
      if (isAbsent && !item?.given) this.copied(view, item, isWritten);
      else if (isWritten && this.present.has(buffer)) this.newer.set(buffer, side);
      else if (isWritten) this.newer.delete(buffer);
    }
  }

  /** A loop's array that nothing keeps on the device. */
  private copied(view: View, item: DataItem | undefined, isWritten: boolean): void {
    if ((item?.enter ?? "copyin") === "copyin") this.count("ToDevice", view);
    const back = item?.exit && item.enter !== "present" ? item.exit === "copyout" : isWritten;
    if (back) this.count("FromDevice", view);
    else if (isWritten) this.newer.set(view.buffer, "device");
  }

  private differs(name: string, { file, line }: Location, side: Side): void {
    const [other, remedy] = side === "host" ? ["device", `update self(${name})`] : ["host", `update device(${name})`];
    const text = `${file}:${line}: ${name}: the ${side} may read old values, as the ${other} has written it since the last copy (write \`${remedy}\` before)`;
    if (!this.counts.differences.includes(text)) this.counts.differences.push(text);
  }

  private toDevice(view: View): void {
    this.count("ToDevice", view);
    this.newer.delete(view.buffer);
  }

  private toHost(view: View): void {
    this.count("FromDevice", view);
    this.newer.delete(view.buffer);
  }

  private count(way: "ToDevice" | "FromDevice", view: View): void {
    if (view.size === 0) return;
    this.counts[`copies${way}`]++;
    this.counts[`bytes${way}`] += view.size * BYTES[view.type];
  }
}

const READ = new WeakMap<LoweredKernel, Set<string>>();

/** Parameters with elements that a kernel reads. */
function readIn(lowered: LoweredKernel): Set<string> {
  const known = READ.get(lowered) ?? new Set<string>();
  if (READ.has(lowered)) return known;
  READ.set(lowered, known);
  const look = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(look);
    if (node === null || typeof node !== "object") return;
    const { op, view } = node as { op?: unknown; view?: unknown };
    if (op === "load" && typeof view === "string") known.add(view);
    for (const value of Object.values(node)) look(value);
  };
  look(lowered.ir.body);
  return known;
}
