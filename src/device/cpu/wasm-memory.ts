import { ModuleBuilder } from "../../emit/wasm/encoder.js";
import { DeviceError, IsoformError } from "../../base/errors.js";

/* The WebAssembly memory that the CPU backends share: with 32-bit addresses, or with 64-bit ones where more is needed. */

export const PAGE = 65536;
/** One page less than 4 GiB: engines lose messages that hold views of a full memory. */
export const MAX_PAGES = 65535;
const GIB_PAGES = 2 ** 30 / PAGE;
const MAX_WIDE_GIB = 16;

/** How far the memory may grow. */
interface MemoryLimits {
  /** Pages of the memory that is made first. */
  readonly first: number;
  /** Pages of a memory with 64-bit addresses that may take its place; the same where none may. */
  readonly most: number;
}

/**
 * 4 GiB first and 16 GiB if the engine has 64-bit addresses, or the size in ISOFORM_MEMORY_GIB from the start. Throws IsoformError if
 * that is not a number from 1 to 16.
 */
export function memoryLimits(): MemoryLimits {
  const wish = globalThis.process?.env?.ISOFORM_MEMORY_GIB;
  if (wish === undefined || wish === "") return { first: MAX_PAGES, most: hasWideMemory() ? MAX_WIDE_GIB * GIB_PAGES : MAX_PAGES };
  const gib = Number(wish);
  if (!(gib >= 1 && gib <= MAX_WIDE_GIB))
    throw new IsoformError(`ISOFORM_MEMORY_GIB is "${wish}": it needs a number from 1 to ${MAX_WIDE_GIB}`);
  const asked = Math.ceil(gib * GIB_PAGES);
  const pages = asked === MAX_PAGES + 1 ? MAX_PAGES : asked;
  return { first: pages, most: pages };
}

/** Why the memory cannot have more than `pages`, and what to do: the end of a message and its remedy. */
export function moreMemory(pages: number): { reason: string; remedy: string } {
  if (pages >= MAX_WIDE_GIB * GIB_PAGES)
    return { reason: "which is the largest there is", remedy: "free other arrays, or use the device native" };
  if (!hasWideMemory())
    return {
      reason: "and this engine has none with 64-bit addresses",
      remedy: "free other arrays, use Node 24 or newer, or use the device native",
    };
  return {
    reason: "as ISOFORM_MEMORY_GIB asks",
    remedy: `free other arrays, leave out ISOFORM_MEMORY_GIB or set it to as much as ${MAX_WIDE_GIB}, or use the device native`,
  };
}

/** Why there is no memory at all, and what to do, from what the engine says. */
export const noMemory = (words: string): { reason: string; remedy: string } => ({
  reason: `the engine gives no WebAssembly memory (${words}): it sets aside 10 GiB of addresses for each, which \`ulimit -v\` may not allow`,
  remedy: "start node with --disable-wasm-trap-handler, raise `ulimit -v` to 12 GiB or more, or use the device js or native",
});

/** True where a memory of that many pages has 64-bit addresses. */
export const isWideMemory = (maxPages: number): boolean => maxPages > MAX_PAGES;

/** False in an engine that was started without it, as by `node --jitless`. */
export const hasWebAssembly = (): boolean => typeof WebAssembly === "object";

let wideMemory: boolean | undefined;

/** True where the engine has memories with 64-bit addresses. */
function hasWideMemory(): boolean {
  return (wideMemory ??= hasWebAssembly() && WebAssembly.validate(new ModuleBuilder(false, true).bytes()));
}

/** A new memory; engines differ in how they want to be asked for 64-bit addresses. Throws DeviceError if there are none. */
export function createMemory(initial: number, maximum: number, shared: boolean): WebAssembly.Memory {
  if (!isWideMemory(maximum)) return new WebAssembly.Memory({ initial, maximum, shared });
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
    `this engine gives no WebAssembly memory of ${((maximum * PAGE) / 2 ** 30).toPrecision(3)} GiB`,
    "use Node 24 or newer, or leave out ISOFORM_MEMORY_GIB for a memory that begins with 4 GiB",
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
