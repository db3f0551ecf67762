import type { Buffer } from "./view.js";

/*
 * Every piece of memory has a number that each write raises: launches that store, scatter or reduce into it, copies, clears, uploads and graphs.
 * It is raised when the work is submitted. Memory was not written between two looks at the same number. What other processes send, and what the
 * host stores through a typed array of its own, is not counted.
 */

/** Work that writes memory each time it runs. */
export interface WritingWork {
  /** The memory that it writes, each piece once. */
  readonly written: readonly Buffer[];
}

/** Number of writes to this memory so far. */
export const writeCount = (buffer: Buffer): number => buffer.writes ?? 0;

/** Counts one write. */
export function noteWrite(buffer: Buffer): void {
  buffer.writes = (buffer.writes ?? 0) + 1;
}

/** Memory that a capture in progress would write; undefined outside of captures. */
let captured: Set<Buffer> | undefined;

const graphs = new WeakMap<object, readonly Buffer[]>();

/** Captures a graph, and notes which memory its runs write. */
export function captureWrites<G extends object>(capture: () => G): G {
  const outer = captured;
  const own = new Set<Buffer>();
  captured = own;
  try {
    const graph = capture();
    graphs.set(graph, [...own]);
    return graph;
  } finally {
    captured = outer;
  }
}

/** Counts the writes of work that is submitted, or notes them for the graph that is being captured. */
export function noteWrites(buffers: readonly Buffer[], isCaptured: boolean): void {
  if (isCaptured && captured) for (const buffer of buffers) captured.add(buffer);
  // By index, as a launch may take less than 100 ns to submit.
  else for (let n = 0; n < buffers.length; n++) noteWrite(buffers[n]);
}

/** Counts the writes of one run of a graph. */
export function noteGraphWrites(graph: object): void {
  for (const buffer of graphs.get(graph) ?? []) noteWrite(buffer);
}
