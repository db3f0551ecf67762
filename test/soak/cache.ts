import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { backend as native } from "../../src/device/native/native.js";
import type { Subject } from "./subject.js";

const TRIALS = 32;
const child = fileURLToPath(new URL("../cache/damaged-launches.js", import.meta.url));

/** Launches from damaged caches: none wrong, none ended by a signal. */
export const cache: Subject = {
  name: "cache",
  weight: 2,
  missing: async () => (await native.probe()).missing?.reason,
  open: () =>
    Promise.resolve({
      trial(seed) {
        const { status, signal, stdout, stderr } = spawnSync(process.execPath, [child, "native", String(TRIALS), String(seed)], {
          encoding: "utf8",
          timeout: 90_000,
        });
        if (status !== 0 || stderr !== "") return Promise.reject(new Error(`exit ${signal ?? status}\n${stderr}`));
        const { wrong } = JSON.parse(stdout) as { wrong: string[] };
        if (wrong.length > 0) return Promise.reject(new Error(`wrong after damage: ${wrong.join("; ")}`));
        return Promise.resolve({ "damaged caches": TRIALS });
      },
      close: () => Promise.resolve(),
    }),
};
