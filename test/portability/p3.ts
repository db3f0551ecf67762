/* p3-analysis-library: ISOFORM_P3 names a checkout of it that has its dependencies. */
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Assessment } from "../../src/portability/schema.js";
import type { Direction } from "../../src/portability/cells.js";

/** Its checkout. */
export const P3 = process.env.ISOFORM_P3;
const env = { ...process.env, PYTHONPATH: P3 };
const isThere = P3 !== undefined && spawnSync("python3", ["-c", "import p3analysis"], { env }).status === 0;

/** Why it cannot be asked; false where it can. */
export const withoutP3 = isThere
  ? false
  : "python3 has no p3analysis: ISOFORM_P3 must name a checkout of P3HPC/p3-analysis-library, after pip install --target CHECKOUT pandas matplotlib jsonschema";

/** Reads a JSON list of [performance file, direction or ""]; prints Phi or divergence by problem and application for each. */
const PROGRAM = `
import sys, json, warnings
warnings.simplefilter("ignore")
import pandas as pd
from p3analysis.metrics import application_efficiency, divergence, pp
def values(frame, column):
  return {f"{row['problem']}/{row['application']}": row[column] for _, row in frame.iterrows()}
def phi(frame, foms):
  return {k: v for _, one in frame.groupby("problem") for k, v in values(pp(application_efficiency(one, foms=foms)), "app pp").items()}
done = []
for file, foms in json.load(open(sys.argv[1])):
  frame = pd.read_csv(file, float_precision="round_trip")
  done.append(phi(frame, foms) if foms else values(divergence(frame), "divergence"))
print(json.dumps(done))
`;

/** Values by problem and application: `q/Kokkos`. */
export type Values = Record<string, number>;

/**
 * Asks p3 about all files in one process: Phi, or, without a direction, code divergence.
 * @param folder for a file of its own
 */
export function p3(folder: string, requests: readonly (readonly [string, Direction | ""])[]): Values[] {
  const list = join(folder, "requests.json");
  writeFileSync(list, JSON.stringify(requests));
  return JSON.parse(execFileSync("python3", ["-c", PROGRAM, list], { env, encoding: "utf8", maxBuffer: 64 << 20 })) as Values[];
}

/** Phi of application efficiencies by the yardstick that p3 has. */
export const phisOf = ({ metrics }: Assessment): Values =>
  Object.fromEntries(metrics.filter((m) => m.yardstick === "any").map((m) => [`${m.problem}/${m.application}`, m.value]));
