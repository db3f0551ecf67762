import type { Application, ProblemOptions, Sample } from "isoform/portability";
import { ITERATION, mean } from "isoform/portability";
import { DEFAULT_GIB, deviationOf, KERNELS, Stream, elements } from "./stream.js";

const sizeOf = ({ gib, quick }: ProblemOptions): number => gib ?? (quick ? 0.1 : DEFAULT_GIB);
const iterationsOf = ({ iterations, quick }: ProblemOptions): number => iterations ?? (quick ? 5 : 20);

/** BabelStream's own bound on the dot product; its bound on the arrays is tighter than any error that is not round-off. */
const TOLERANCE = 1e-8;

export const application: Application = {
  name: "stream",
  summary: "BabelStream: copy, mul, add, triad, dot",

  footprint: (options) => 3 * 8 * elements(sizeOf(options)),

  async prepare({ locals: [{ device }] }, options) {
    const gib = sizeOf(options);
    const stream = Stream.create(device, elements(gib), options.precision);
    let last: { readonly iterations: number; readonly sum: number } | undefined;
    return {
      problem: `stream ${gib} GiB`,
      get launches() {
        return stream.launches.map((launch) => ({ name: launch.kernel.name, launch }));
      },

      async run(iterations = iterationsOf(options)) {
        const { seconds, sum } = await stream.run(iterations);
        last = { iterations, sum };
        const kernels = stream.launches.map(({ kernel, cost }): Sample => ({
          quantity: kernel.name,
          seconds: mean(seconds[kernel.name]),
          ...cost,
        }));
        const total = (of: (sample: Sample) => number) => kernels.reduce((t, sample) => t + of(sample), 0);
        return [
          { quantity: ITERATION, seconds: total((k) => k.seconds), bytes: total((k) => k.bytes ?? 0), flops: total((k) => k.flops ?? 0) },
          ...kernels,
        ];
      },

      async validate() {
        if (!last) throw new Error("validate() needs a run: call run() before it");
        const maxError = await stream.deviation(last.iterations, last.sum);
        return { ok: maxError < TOLERANCE, maxError, against: "exact recurrence, relative" };
      },

      free: () => stream.free(),
    };
  },

  byHand(options) {
    const gib = sizeOf(options);
    const iterations = iterationsOf(options);
    const n = elements(gib);
    return {
      program: "stream",
      problem: `stream ${gib} GiB`,
      iterations,
      sizes: [n],
      inputs: [],
      outputs: [n, n, n, 1],
      quantities: [ITERATION, ...KERNELS.map(({ name }) => name)],
      validate([a, b, c, [sum]]) {
        const maxError = deviationOf({ a, b, c, sum }, iterations);
        return { ok: maxError < TOLERANCE, maxError, against: "exact recurrence, relative" };
      },
    };
  },
};
