import { f64, open } from "../../src/index.js";
import { checkGradient } from "../../src/gradient/index.js";
import { gradientCases } from "./cases.js";

/* Ends with 1 where the gradient of some kernel is wrong: run with changed modules by mutations.test.ts. */

const device = await open("js");
try {
  for (const { kernel, args, policy, wrt } of gradientCases(f64)) {
    const given = Object.entries(args()).map(([name, value]) => [
      name,
      typeof value === "number" ? value : device.from(value.type, value.data, value.shape),
    ]);
    const { identity, differences } = await checkGradient(device, kernel, Object.fromEntries(given), policy, { wrt, directions: 1 });
    if (!(identity <= 1e-14 && differences <= 1e-8)) throw new Error(`${identity} ${differences}`);
  }
} catch (error) {
  console.log((error as Error).message.split("\n")[0]);
  process.exitCode = 1;
}
await device.close();
