import { wrap } from "../../ir/scalars.js";
import { PRINT_LIMIT, printedType, recordViews } from "../../ir/print-records.js";
import { rowsShape } from "../../ir/passes/record-prints.js";
import type { KernelIR, PrintedType, PrintedValue } from "../../ir/types.js";
import type { Device } from "../device.js";
import type { View } from "../memory/view.js";
import type { FaultBinding } from "./faults.js";

/* Lines that kernels print: memory for their records, and text made of them. */

/** Memory for the records of a launch, by names in the kernel's code; nothing where it prints nothing. */
export function takePrintRecords(device: Device, { prints }: KernelIR): Record<string, View> {
  if (!prints) return {};
  const rows = Object.entries(prints.rows).flatMap(([type, row]) =>
    row ? [[row.view, device.array({ type: type as PrintedType }, rowsShape(row.width))] as const] : [],
  );
  return { [prints.count]: device.array({ type: "i32" }, 1), ...Object.fromEntries(rows) };
}

/** The views of the records: first the one with the number of lines. */
export const printRecords = ({ ir, views }: FaultBinding): View[] => (ir.prints ? recordViews(ir.prints).map((name) => views[name]) : []);

/** Launches whose lines a queue still has to read, and the ones among them that were freed meanwhile. */
const held = new Map<FaultBinding, number>();
const freed = new WeakSet<FaultBinding>();

/** Keeps the records of a launch until they are released, even where it is freed before. */
export function holdPrintRecords(launch: FaultBinding): void {
  held.set(launch, (held.get(launch) ?? 0) + 1);
}

export function releasePrintRecords(launch: FaultBinding): void {
  const count = held.get(launch)! - 1;
  if (count > 0) return void held.set(launch, count);
  held.delete(launch);
  if (freed.has(launch)) freePrintRecords(launch);
}

/** Gives the memory back. */
export function freePrintRecords(launch: FaultBinding): void {
  if (held.has(launch)) freed.add(launch);
  else for (const view of printRecords(launch)) view.free();
}

/** Prints what the records say, in the order of `printRecords`. */
export function tellLines({ ir, call }: FaultBinding, [count, ...rows]: readonly ArrayLike<number>[]): void {
  const lines = count[0] >>> 0;
  if (lines === 0) return;
  const { sites, rows: places } = ir.prints!;
  const types = (Object.keys(places) as PrintedType[]).filter((type) => places[type]);
  const values = (type: PrintedType): ArrayLike<number> => rows[types.indexOf(type)];
  const print = printerOf({ call });
  for (let line = 0; line < Math.min(lines, PRINT_LIMIT); line++) {
    const site = sites[values("i32")[line * places.i32!.width]];
    const text = site.map((item) => {
      if (typeof item === "string") return item;
      const type = printedType(item.type);
      return valueText(item, values(type)[line * places[type]!.width + item.at]);
    });
    print(text.join(" "));
  }
  if (lines > PRINT_LIMIT) {
    const { file, line } = call.kernel.location;
    print(
      `isoform: kernel "${ir.name}" (${file}:${line}) on ${call.device.name} printed ${lines} lines; ${lines - PRINT_LIMIT} of them are lost, as a launch keeps ${PRINT_LIMIT}`,
    );
  }
}

/** Output for lines of a launch. */
export function printerOf({ call }: Pick<FaultBinding, "call">): (line: string) => void {
  return (line) => (call.device.print ? call.device.print(line) : console.log(line));
}

function valueText({ type }: PrintedValue, value: number): string {
  if (type === "bool") return String(value !== 0);
  return Object.is(value, -0) ? "-0" : String(type === "u32" ? wrap(type, value) : value);
}
