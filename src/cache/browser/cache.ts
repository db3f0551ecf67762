/* Implementation of `#cache` in a browser: measurements are remembered as long as the page is open. */

const kept = new Map<string, Uint8Array>();

const keyOf = (kind: string, parts: readonly string[]): string => JSON.stringify([kind, ...parts]);

/** Value remembered for these `parts`. */
export const recall = (kind: string, parts: readonly string[]): Uint8Array | undefined => kept.get(keyOf(kind, parts));

/** Keeps it for `recall`. */
export function remember(kind: string, parts: readonly string[], data: Uint8Array): void {
  kept.set(keyOf(kind, parts), data);
}
