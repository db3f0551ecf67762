import { open } from "../../src/device/open.js";
import { DeviceError } from "../../src/base/errors.js";
// Registers a backend of the tests, one more judge.
import "../backend/interpreter/backend.js";
import { campaign } from "../random/campaign.js";
import { check } from "../random/check.js";
import { checkGradientsOf } from "../random/gradients.js";
import type { Subject } from "./subject.js";

/** Random kernels in strict mode: the evaluator, plain TypeScript, and devices, bit for bit. */
const kernels = (name: string, weight: number, runs: number, names: readonly string[], sometimes: readonly string[] = []): Subject => ({
  name,
  weight,
  async missing() {
    for (const each of names) {
      try {
        await (await open(each)).close();
      } catch (error) {
        if (error instanceof DeviceError) return error.message;
        throw error;
      }
    }
    return undefined;
  },
  async open() {
    const devices = await Promise.all(names.map((each) => open(each)));
    const others = await Promise.all(sometimes.map((each) => open(each)));
    return {
      async trial(seed) {
        const all = seed % 10 === 0 ? [...devices, ...others] : devices;
        await campaign({ runs, seed, check: (program) => check(program, all) });
        return { [name === "kernels" ? name : `kernels on ${name}`]: runs };
      },
      async close() {
        for (const device of [...devices, ...others]) await device.close();
      },
    };
  },
});

/** Gradients of random kernels: the tangent beside the adjoint by the evaluator, and the adjoint's bits on `js`. */
const gradients: Subject = {
  name: "gradients",
  weight: 3,
  async open() {
    const js = await open("js");
    return {
      async trial(seed) {
        const counts: Record<string, number> = {};
        const count = (outcome: string): void => void (counts[outcome] = (counts[outcome] ?? 0) + 1);
        await campaign({
          runs: 25,
          seed,
          check: async (program, n) => count(`gradients: ${await checkGradientsOf(program, n % 5 === 0 ? js : undefined)}`),
        });
        return { gradients: 25, ...counts };
      },
      close: () => js.close(),
    };
  },
};

export const KERNELS: readonly Subject[] = [
  gradients,
  kernels("kernels", 40, 25, ["js", "wasm"], ["interpreter"]),
  kernels("native", 3, 1, ["native"]),
  kernels("opencl", 3, 1, ["opencl"]),
];
