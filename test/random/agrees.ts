import { after, before, describe, it } from "node:test";
import { open } from "../../src/device/open.js";
import type { Device } from "../../src/device/device.js";
import { DeviceError } from "../../src/base/errors.js";
import { campaign } from "./campaign.js";
import { check, checkNarrowed } from "./check.js";
import { TURN } from "../turns.js";
import type { Program } from "./program.js";

/** A turn takes its share of so many kernels, each turn others. */
const shareOf = (runs: number): number => Math.ceil(runs / (TURN?.of ?? 1));
/** Random kernels of a run unless ISOFORM_RANDOM_RUNS asks for another number. */
export const RUNS = Number(process.env.ISOFORM_RANDOM_RUNS ?? shareOf(1000));
export const SEED = Number(process.env.ISOFORM_RANDOM_SEED ?? TURN?.number ?? 1);
/** A compiler of the machine is started for each of their kernels: unless a number is asked for, they run so many of them only. */
const COMPILED: Record<string, number> = { native: 150, cuda: 150, hip: 150, opencl: 40, webgpu: 40 };

/** js-debug reports wraps and saturations that the text does not say, so that it only runs kernels without such. */
const judges = (device: Device, { faithful }: Program): boolean => device.name !== "js-debug" || faithful;

/** Random kernels in strict mode on a device, against the evaluator; where the machine lacks it, they are skipped with the reason. */
export function agrees(name: string): void {
  describe(`random kernels in strict mode on ${name}, seed ${SEED}`, () => {
    const runs = process.env.ISOFORM_RANDOM_RUNS ? RUNS : name in COMPILED ? shareOf(COMPILED[name]) : RUNS;
    let device: Device;
    let missing: string | undefined;
    before(async () => {
      try {
        device = await open(name);
      } catch (error) {
        if (!(error instanceof DeviceError)) throw error;
        missing = error.message;
      }
    });
    after(() => device?.close());
    it(`agrees with the evaluator on ${runs}`, async (t) => {
      if (missing !== undefined) return t.skip(missing);
      const narrowly = !device.capabilities.f64;
      await campaign({
        runs,
        seed: SEED,
        check: (program) => (narrowly ? checkNarrowed(program, device) : check(program, judges(device, program) ? [device] : [])),
      });
    });
  });
}
