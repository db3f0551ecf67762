import { readFileSync } from "node:fs";
import os from "node:os";
import type { Device } from "../device/device.js";
import type { Machine } from "./schema.js";

/** This machine, now. */
export function thisMachine(): Machine {
  return {
    name: os.hostname(),
    system: `${os.type()} ${os.release()} ${os.arch()}`,
    processor: processor(),
    threads: os.availableParallelism(),
    memory: os.totalmem(),
    engine: `Node ${process.versions.node}`,
    isoform: JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")).version,
    date: new Date().toISOString(),
  };
}

/** The hardware that a device stands for: the same for all backends of one processor. Without commas, so that sets can name it. */
export function platformOf(device: Device): string {
  return isProcessor(device) ? hostPlatform() : hardwareOf(device.label);
}

/** This machine's processor as a platform. */
export const hostPlatform = (): string => `${processor()} (${os.availableParallelism()} threads)`;

/** Name of the hardware in a device's label: its first words. */
export const hardwareOf = (label: string): string => label.split(",")[0].trim();

/** The device computes with this machine's processor. */
export const isProcessor = ({ memory, onHost }: Device): boolean => onHost ?? memory.name === "cpu";

/**
 * One name for each platform, from the names that occur: backends write the same GPU with and without capitals and hyphens (`NVIDIA H100
 * 80GB HBM3`, `nvidia-h100-80gb-hbm3`). The first with capitals is taken.
 */
export function oneNameEach(platforms: Iterable<string>): (platform: string) => string {
  const best = new Map<string, string>();
  for (const platform of platforms) {
    const known = best.get(bare(platform));
    if (known === undefined || (!/[A-Z]/.test(known) && /[A-Z]/.test(platform))) best.set(bare(platform), platform);
  }
  return (platform) => best.get(bare(platform)) ?? platform;
}

const bare = (name: string): string => name.toLowerCase().replace(/[\s_-]+/g, "");

function processor(): string {
  const model = os.cpus()[0]?.model ?? os.arch();
  return (
    model
      .replace(/\((R|TM)\)|,|\bCPU\b|\bProcessor\b|@.*$/gi, " ")
      .replace(/\s+/g, " ")
      .trim() || os.arch()
  );
}
