/*
 * Data that directives would keep on a device and copy, while a routine runs with one memory: counted, and compared with what the statements need where
 * host and device have memories of their own.
 */

import type { Buffer, View } from "../../device/memory/view.js";
import type { Sizes } from "../../ir/analysis/cost.js";
import { BYTES } from "../../ir/scalars.js";
import type { Location } from "../../ir/types.js";
import { declaredAs } from "../data/arrays.js";
import type { DataItem } from "../data/items.js";
import { Problems } from "../errors.js";
import type { LoweredKernel } from "../lower/kernels.js";
import { otherSide, TwoMemories, wholeOf, type MemorySide } from "./two-memories.js";
import { touchedSteps } from "./touched.js";

/** Copies that a run's directives ask for, as OpenACC and OpenMP count them. */
export interface TransferCounts {
  copiesToDevice: number;
  bytesToDevice: number;
  copiesFromDevice: number;
  bytesFromDevice: number;
  /** Places at which a program with two memories may get other values: one side may read an element whose value has not been copied to it. */
  readonly differences: string[];
}

/** An array that is on the device. */
interface Present {
  structured: number;
  dynamic: number;
  lasting: boolean;
}

/** A kernel that a run launches. */
interface Launch extends Pick<Sizes, "policy" | "scalars"> {
  readonly lowered: LoweredKernel;
  readonly views: ReadonlyMap<string, View>;
  readonly at: Location;
  readonly side: MemorySide;
  /** The clauses of a loop, by the arrays' names. */
  readonly items: ReadonlyMap<string, DataItem>;
}

export class Transfers {
  readonly counts: TransferCounts = { copiesToDevice: 0, bytesToDevice: 0, copiesFromDevice: 0, bytesFromDevice: 0, differences: [] };
  private readonly present = new Map<Buffer, Present>();
  private readonly memories = new TwoMemories();

  /** Notes an array that begins without values. */
  fresh(view: View): void {
    this.memories.fresh(view);
  }

  enter(view: View, { enter, always }: Pick<DataItem, "enter" | "always">, isDynamic: boolean): void {
    if (enter === undefined) return;
    const known = this.present.get(view.buffer);
    if (!known && enter === "no_create") return;
    const held = known ?? { structured: 0, dynamic: 0, lasting: false };
    this.present.set(view.buffer, held);
    held[isDynamic ? "dynamic" : "structured"]++;
    // The caller has put there what a region expects.
    if (!known && enter !== "present") this.memories.createdOnDevice(view);
    if (enter === "copyin" && (!known || always)) this.copy(view, "device");
  }

  leave(view: View, { exit, always, finalize }: Pick<DataItem, "exit" | "always" | "finalize">, isDynamic: boolean): void {
    const held = this.present.get(view.buffer);
    if (!held || exit === undefined) return;
    const count = isDynamic ? "dynamic" : "structured";
    held[count] = finalize ? 0 : Math.max(0, held[count] - 1);
    const isLast = held.structured === 0 && held.dynamic === 0 && !held.lasting;
    if (exit === "copyout" && (isLast || always)) this.copy(view, "host");
    if (isLast) this.present.delete(view.buffer);
  }

  update(view: View, { update }: DataItem): void {
    if (update && this.present.has(view.buffer)) this.copy(view, update === "self" ? "host" : "device");
  }

  /** Notes the elements that a kernel reads and writes; counts copies of absent arrays. */
  launched(launch: Launch): void {
    const { lowered, views, side, items } = launch;
    const implicit: { readonly view: View; readonly item: Pick<DataItem, "enter" | "exit"> }[] = [];
    for (const [param, view] of views) {
      const { name, variable } = lowered.sources.get(param)!;
      const item = items.get(name);
      // The caller has put what it takes to be present on the device.
      const isKept = declaredAs(variable, new Problems())?.enter !== undefined || item?.enter === "present";
      if (this.present.has(view.buffer)) continue;
      if (isKept) this.present.set(view.buffer, { structured: 0, dynamic: 0, lasting: true });
      else if (side === "device" && !item?.given) implicit.push({ view, item: implicitly(item, isWritten(lowered, param)) });
    }
    for (const { view, item } of implicit) this.enter(view, item, false);
    this.touched(launch);
    for (const { view, item } of implicit) this.leave(view, item, false);
  }

  private touched({ lowered, views, at, side, policy, scalars }: Launch): void {
    const isHere = (view: View): boolean => side === "host" || this.present.has(view.buffer);
    for (const parts of touchedSteps(lowered.ir, { policy, scalars, views: Object.fromEntries(views) })) {
      for (const { view: param, kind, axes } of parts) {
        const view = views.get(param)!;
        const reads = kind !== "write" && isHere(view);
        if (reads && this.memories.isLacking(view, axes, side)) this.differs(lowered.sources.get(param)!.name, at, side);
      }
      for (const { view: param, kind, axes, isCertain } of parts) {
        const view = views.get(param)!;
        if (kind !== "read") this.memories.written(view, axes, side, isCertain, !this.present.has(view.buffer));
      }
    }
  }

  /** Notes that the host reads an array in a statement without a kernel. */
  readByHost(view: View, name: string, at: Location): void {
    if (this.memories.isLacking(view, wholeOf(view), "host")) this.differs(name, at, "host");
  }

  /** Notes that the host writes an array in a statement without a kernel. */
  writtenByHost(view: View): void {
    this.memories.written(view, wholeOf(view), "host", true, !this.present.has(view.buffer));
  }

  private differs(name: string, { file, line }: Location, side: MemorySide): void {
    const remedy = `update ${side === "host" ? "self" : "device"}(${name})`;
    const text = `${file}:${line}: ${name}: the ${side} may read old values, as the ${otherSide(side)}'s have not been copied since (write \`${remedy}\` before)`;
    if (!this.counts.differences.includes(text)) this.counts.differences.push(text);
  }

  private copy(view: View, to: MemorySide): void {
    this.memories.copied(view, to);
    if (view.size === 0) return;
    const way = to === "host" ? "FromDevice" : "ToDevice";
    this.counts[`copies${way}`]++;
    this.counts[`bytes${way}`] += view.size * BYTES[view.type];
  }
}

/** Copies of a loop's array that nothing keeps on the device. */
const implicitly = (item: DataItem | undefined, isChanged: boolean): Pick<DataItem, "enter" | "exit"> => ({
  enter: item?.enter ?? "copyin",
  exit: item?.exit ?? (isChanged ? "copyout" : "delete"),
});

const isWritten = ({ ir }: LoweredKernel, param: string): boolean =>
  ir.params.some((each) => each.name === param && (each.kind === "scatter" || (each.kind === "view" && each.disjoint === true)));
