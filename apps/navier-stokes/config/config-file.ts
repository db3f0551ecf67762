import { IsoformError } from "isoform";
import { readToml } from "../../config.js";
import { givenOf } from "./config.js";
import { CASES, type CaseName, type Given } from "./config-keys.js";

/**
 * The values of a TOML file, in camel case. It may name its case, as `case = "channel"`.
 * @throws IsoformError with the file, for what cannot be read, unknown keys, and values of another kind
 */
export async function readConfig(file: string, name: CaseName): Promise<Given> {
  return givenIn(await readToml(file), file, name);
}

function givenIn(found: Record<string, unknown>, file: string, name: CaseName): Given {
  const { case: own, ...values } = found;
  if (own !== undefined && own !== name) {
    const known = (CASES as readonly unknown[]).includes(own);
    throw new IsoformError(
      `${file} is of the case ${String(own)}: ${known ? `run isoform navier-stokes ${String(own)}` : `the cases are ${CASES.join(", ")}`}`,
    );
  }
  return givenOf(values, file, name);
}
