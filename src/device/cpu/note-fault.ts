import { FAULT } from "../../ir/passes/check-indices.js";

/** Keeps a failure in the record of a launch if it is at the first element so far, and at that element's first site. On any thread. */
export function noteFault(record: Int32Array, site: number, index: number, ...element: number[]): void {
  while (Atomics.exchange(record, FAULT.lock, 1) !== 0);
  const fault = [...element, site];
  const known = [...record.subarray(FAULT.element, FAULT.element + element.length), record[FAULT.site]];
  const differs = fault.findIndex((n, k) => n !== known[k]);
  if (record[FAULT.failed] === 0 || fault[differs] < known[differs]) {
    record.set(element, FAULT.element);
    record[FAULT.site] = site;
    record[FAULT.index] = index;
    record[FAULT.failed] = 1;
  }
  Atomics.store(record, FAULT.lock, 0);
}
