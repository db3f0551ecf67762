import { readdirSync, readFileSync } from "node:fs";

const UNITS: Record<string, number> = { "": 1, K: 1 << 10, M: 1 << 20, G: 1 << 30 };
const DEFAULT_SIZE = 32 << 20;

const FOLDER = "/sys/devices/system/cpu/cpu0/cache";
let known: number | undefined;

/** Bytes of the largest cache of the first processor; 32 MiB where the system does not tell. */
export function lastLevelCache(folder = FOLDER): number {
  return folder === FOLDER ? (known ??= largest(folder)) : largest(folder);
}

function largest(folder: string): number {
  try {
    const sizes = readdirSync(folder)
      .filter((name) => name.startsWith("index"))
      .map((name) => {
        const [, digits, unit] = /^(\d+)([KMG]?)/.exec(readFileSync(`${folder}/${name}/size`, "utf8"))!;
        return Number(digits) * UNITS[unit];
      });
    return Math.max(...sizes);
  } catch {
    return DEFAULT_SIZE;
  }
}
