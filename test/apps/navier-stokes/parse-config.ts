import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../../apps/navier-stokes/config/config-file.js";
import type { CaseName, Given } from "../../../apps/navier-stokes/config/config-keys.js";

/** The configuration that a file with this text and name holds. */
export async function parseConfig(text: string, file: string, name: CaseName): Promise<Given> {
  const folder = await mkdtemp(join(tmpdir(), "isoform-"));
  try {
    await writeFile(join(folder, file), text);
    return await readConfig(join(folder, file), name);
  } finally {
    await rm(folder, { recursive: true });
  }
}
