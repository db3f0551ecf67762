import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { open } from "../../src/device/open.js";
import { campaign } from "./campaign.js";
import { check, checkAgainst } from "./check.js";
import { sourceOf } from "./program.js";

/*
 * Random kernels on chosen devices, for machines that the tests do not reach:
 *   node dist/test/random/run.js --device cuda:0 --against js --runs 300 --seed 7
 * Without --against the devices are compared with the reference evaluator. A kernel that takes longer than --limit seconds ends the run with
 * its source.
 */
const { values } = parseArgs({
  options: {
    device: { type: "string", multiple: true, default: ["js"] },
    against: { type: "string" },
    runs: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    limit: { type: "string", default: "120" },
  },
});
const [runs, seed] = [Number(values.runs), Number(values.seed)];
const watch = new Worker(new URL("watch.js", import.meta.url), { workerData: Number(values.limit) });
watch.unref();
let found = false;
const devices = await Promise.all(values.device.map((name) => open(name)));
const against = values.against === undefined ? undefined : await open(values.against);
try {
  await campaign({
    runs,
    seed,
    check: async (program, n) => {
      watch.postMessage(`kernel ${n} of seed ${seed}\n${sourceOf(program)}`);
      try {
        if (against) for (const device of devices) await checkAgainst(program, device, against);
        else await check(program, devices);
      } catch (error) {
        // Shrinking may end in a kernel that never does.
        if (!found) console.error(`before shrinking, kernel ${n}: ${(error as Error).message}`);
        found = true;
        throw error;
      }
    },
  });
  console.log(`${runs} kernels of seed ${seed}: ${values.device.join(", ")} and ${values.against ?? "the evaluator"} agree bit for bit`);
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
} finally {
  watch.postMessage("closing the devices");
  for (const device of [...devices, ...(against ? [against] : [])]) await device.close();
}
