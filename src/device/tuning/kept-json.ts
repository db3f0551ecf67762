import { recall, remember } from "#cache";

/* Measurements, kept as JSON for other processes. */

/** The value kept for the key, if it is of the expected form: another version of the library may have kept something else under the same name. */
export function recallJson<T>(kind: string, key: readonly string[], fits: (value: unknown) => value is T): T | undefined {
  const data = recall(kind, key);
  if (!data) return undefined;
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(data));
    return fits(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps it for `recallJson`. */
export function rememberJson(kind: string, key: readonly string[], value: object): void {
  remember(kind, key, new TextEncoder().encode(JSON.stringify(value)));
}

/** True for an object that is not an array. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** True for what a clock may have given. */
export const isTime = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0;
