import { DeviceError, IsoformError } from "../../kernel/errors.js";

/* The WebAssembly memory that the CPU backends share: with 32-bit addresses, or with 64-bit ones where more is asked for. */

export const PAGE = 65536;
/** One page less than 4 GiB: engines lose messages that hold views of a full memory. */
export const MAX_PAGES = 65535;
const GIB_PAGES = 2 ** 30 / PAGE;
const MAX_WIDE_GIB = 16;

/** Pages that the memory may grow to: 4 GiB, or what ISOFORM_MEMORY_GIB says. Throws IsoformError where that is no number from 1 to 16. */
export function wishedPages(): number {
  const wish = globalThis.process?.env?.ISOFORM_MEMORY_GIB;
  if (wish === undefined || wish === "") return MAX_PAGES;
  const gib = Number(wish);
  if (!(gib >= 1 && gib <= MAX_WIDE_GIB))
    throw new IsoformError(`ISOFORM_MEMORY_GIB is "${wish}": it needs a number from 1 to ${MAX_WIDE_GIB}`);
  const pages = Math.ceil(gib * GIB_PAGES);
  return pages === MAX_PAGES + 1 ? MAX_PAGES : pages;
}

/** True where a memory of that many pages has 64-bit addresses. */
export const isWide = (maxPages: number): boolean => maxPages > MAX_PAGES;

/** A new memory; engines differ in how they want to be asked for 64-bit addresses. Throws DeviceError where there are none. */
export function createMemory(initial: number, maximum: number, shared: boolean): WebAssembly.Memory {
  if (!isWide(maximum)) return new WebAssembly.Memory({ initial, maximum, shared });
  const descriptors: unknown[] = [
    { address: "i64", initial: BigInt(initial), maximum: BigInt(maximum), shared },
    { index: "i64", initial, maximum, shared },
  ];
  for (const descriptor of descriptors)
    try {
      return new WebAssembly.Memory(descriptor as WebAssembly.MemoryDescriptor);
    } catch {
      // The next form may do.
    }
  throw new DeviceError(
    "wasm",
    `this engine has no WebAssembly memory of ${((maximum * PAGE) / 2 ** 30).toPrecision(3)} GiB`,
    "use Node 22 or newer, or leave ISOFORM_MEMORY_GIB away for a memory of 4 GiB",
  );
}

/** Adds pages. Throws where the engine cannot. */
export function growMemory(memory: WebAssembly.Memory, pages: number): void {
  try {
    memory.grow(pages);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    memory.grow(BigInt(pages) as unknown as number);
  }
}
