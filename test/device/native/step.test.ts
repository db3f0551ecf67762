import assert from "node:assert/strict";
import test, { describe } from "node:test";
import { compileLibrary, findCompiler } from "../../../src/device/native/compiler.js";
import { GRAPH_FUNCTIONS, GRAPH_SOURCE } from "../../../src/device/native/graph.js";
import { Loader, loadWorkingKoffi } from "../../../src/device/native/library.js";
import { NativeStep } from "../../../src/device/native/step.js";
import { f64, kernel, open, range, sum, view } from "../../../src/index.js";

const [koffi, compiler] = [await loadWorkingKoffi(), findCompiler()];
const skip = !koffi || !compiler;

/**
 * Steps by a clock that only `pretend` moves: by as much as it is told for one thread and for several, and by more in a run of several each
 * `every` runs. It counts the runs of each.
 */
const SOURCE = `#include <stdint.h>
#include <time.h>

static int64_t clock_now;

static void read_clock(struct timespec *t)
{
  *t = (struct timespec){clock_now / 1000000000, clock_now % 1000000000};
}
#define clock_gettime(id, t) read_clock(t)

${GRAPH_SOURCE}
struct args { int64_t workers, alone, shared, every, stall, ran_alone, ran_shared; };

void pretend(struct args *args)
{
  int64_t takes = args->workers == 1 ? args->alone : args->shared;
  if (args->workers == 1) args->ran_alone++;
  else if (++args->ran_shared % args->every == 0) takes = args->stall;
  clock_now += takes;
}
`;

/** Runs on one thread and on several, of `runs`; times are in microseconds. */
function runsOf(runs: number, times: { alone: number; shared: number; every?: number; stall?: number }): { alone: number; shared: number } {
  const loader = new Loader(koffi!);
  const names = ["pretend", GRAPH_FUNCTIONS.step];
  const library = compileLibrary(compiler!, "step", SOURCE, "strict", loader.test(...names));
  const [pretend, run] = names.map((name) => loader.entry(library, name));
  const { alone, shared, every = runs + 1, stall = 0 } = times;
  const args = BigInt64Array.from([3, 1000 * alone, 1000 * shared, every, 1000 * stall, 0, 0].map(BigInt));
  const step = new NativeStep(loader, pretend.address, args.buffer, 0);
  for (let n = 0; n < runs; n++) run.call(step.address);
  assert.equal(args[0], 3n, "the number of threads is left as it was");
  return { alone: Number(args[5]), shared: Number(args[6]) };
}

describe("threads of a step", { skip }, () => {
  test("do not decide the bits of results", async () => {
    const device = await open("native", { threads: 3 });
    const n = 20_000;
    const square = kernel("square", { x: view(f64), y: view(f64), s: sum(f64) }, ({ x, y, s }, i) => {
      y[i] = x[i] * x[i];
      s.add(+1 / (1 + y[i]));
    });
    const x = device.from(
      f64,
      Float64Array.from({ length: n }, (_, i) => Math.sin(i)),
    );
    const launch = device.prepare(square, { x, y: device.array(f64, n) }, range(n));
    const sums = new Set<number>();
    for (let run = 0; run < 300; run++) {
      device.queue.submit(launch);
      sums.add((await device.queue.results(launch)).s);
    }
    assert.equal(sums.size, 1);
    await device.close();
  });

  test("are one where several are slower, but for a few tries", () => {
    assert.deepEqual(runsOf(1500, { alone: 20, shared: 60 }), { alone: 1490, shared: 4 + 3 + 3 });
  });

  test("are several where these are faster, but for a few tries", () => {
    assert.deepEqual(runsOf(500, { alone: 60, shared: 30 }), { alone: 3 + 3, shared: 494 });
  });

  test("are several, without a try, where a run on one would take long", () => {
    assert.deepEqual(runsOf(10, { alone: 20, shared: 5000 }), { alone: 0, shared: 10 });
  });

  test("are one for a while after a run on several that was held up for longer than the work takes, and for longer each time", () => {
    const { alone, shared } = runsOf(60_000, { alone: 60, shared: 30, every: 20, stall: 4000 });
    // Rests of 20, 40, ... 640 ms and then of a second, with 20 runs between them.
    assert.ok(shared < 300, `${alone} runs on one thread, ${shared} on several`);
  });
});
