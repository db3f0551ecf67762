import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { f64, kernel, open, range, sum, view } from "isoform";
import { PoolChoice } from "../../../src/device/cpu/pool-choice.js";
import { Pressure } from "../../../src/device/cpu/pool-pressure.js";
import { runSuite, suite } from "../../../src/testing/index.js";
import { sample } from "../../random/share.js";

describe("pressure of other programs", () => {
  const QUICK = { own: 0.1, waited: 0.05 };
  const LATE = { own: 0.1, waited: 4 };

  it("is high for a while after a wait that is longer than the work, and longer each time", () => {
    const pressure = new Pressure();
    pressure.note(1, 2, QUICK, 0);
    assert.equal(pressure.isHigh(1, 1), false);
    let now = 10;
    const rests: number[] = [];
    for (let turn = 0; turn < 8; turn++) {
      pressure.note(1, 2, LATE, now);
      const start = now;
      while (pressure.isHigh(1, now)) now++;
      rests.push(now - start);
    }
    assert.deepEqual(rests, [20, 40, 80, 160, 320, 640, 1000, 1000]);
    const restAfter = (quick: number): number => {
      for (const end = now + quick; now < end; now++) pressure.note(1, 2, QUICK, now);
      pressure.note(1, 2, LATE, now);
      const start = now;
      while (pressure.isHigh(1, now)) now++;
      return now - start;
    };
    assert.deepEqual([restAfter(3900), restAfter(4000)], [1000, 20]);
  });

  it("is not high after one late wait among many threads, whose work alone would take longer than such waits on average", () => {
    const pressure = new Pressure();
    const [quick, late] = [
      { own: 0.015, waited: 0.01 },
      { own: 0.015, waited: 2 },
    ];
    for (let run = 0; run < 100; run++) pressure.note(1, 16, run % 50 === 49 ? late : quick, run);
    assert.equal(pressure.isHigh(1, 100), false);
    for (let run = 0; run < 3; run++) pressure.note(1, 16, late, 100);
    assert.equal(pressure.isHigh(1, 101), true);
  });

  it("leaves long programs, and unknown ones, to several threads", () => {
    const pressure = new Pressure();
    pressure.note(2, 2, { own: 30, waited: 5 }, 0);
    pressure.note(3, 2, { own: LATE.waited / 2, waited: 0 }, 0);
    pressure.note(1, 2, LATE, 1);
    assert.deepEqual(
      [1, 2, 3, 4].map((program) => pressure.isHigh(program, 2)),
      [true, false, false, false],
    );
    pressure.forget(1);
    assert.equal(pressure.isHigh(1, 2), false);
  });
});

describe("the choice between all threads and one", () => {
  /** Runs in which the calling thread was alone, of `count` runs that take these milliseconds. */
  const alone = (count: number, times: { shared: number; alone: number }, shares = 2): number[] => {
    const choice = new PoolChoice();
    const found: number[] = [];
    let now = 0;
    for (let run = 0; run < count; run++) {
      if (choice.isAlone(1, shares, now)) {
        found.push(run);
        choice.noteAlone(1, times.alone);
      } else choice.noteShared(1, shares, { own: times.shared, waited: 0 }, now);
      now += 1;
    }
    return found;
  };

  it("takes what a few runs have shown to be faster, and tries the other again", () => {
    assert.deepEqual(alone(206, { shared: 0.1, alone: 0.2 }), [4, 5, 6]);
    assert.deepEqual(alone(1000, { shared: 0.1, alone: 0.2 }), [4, 5, 6, 407, 408, 409, 810, 811, 812]);
    assert.equal(alone(206, { shared: 0.2, alone: 0.2 }).length, 202);
    // Each 400 runs three try several threads.
    assert.equal(alone(1000, { shared: 0.2, alone: 0.1 }).length, 1000 - 4 - 2 * 3);
  });

  it("tries the calling thread at once where waits take longer than work", () => {
    const choice = new PoolChoice();
    assert.equal(choice.isAlone(1, 2, 0), false);
    choice.noteShared(1, 2, { own: 1, waited: 20 }, 0);
    assert.equal(choice.isAlone(1, 2, 100), true);
  });

  it("leaves programs that would take long alone to all threads", () => {
    assert.deepEqual(alone(1000, { shared: 11, alone: 2 }), []);
  });
});

const devices = await Promise.all(["js", "wasm"].map((name) => open(name, { threads: 3 })));
after(() => Promise.all(devices.map((device) => device.close())));

/** Runs `work` while each second program of several threads is left to the calling thread. */
async function underPressure(work: () => Promise<void>): Promise<void> {
  const { isAlone } = PoolChoice.prototype;
  let asked = 0;
  PoolChoice.prototype.isAlone = () => asked++ % 2 === 0;
  try {
    await work();
  } finally {
    PoolChoice.prototype.isAlone = isAlone;
  }
  assert.ok(asked > 10, `${asked} programs of several threads`);
}

for (const device of devices)
  describe(`programs that the calling thread runs by itself, on ${device.name}`, () => {
    it("pass the suite", () =>
      underPressure(async () => {
        device.precision = "strict";
        for (const { testCase, error } of await runSuite(device, sample(suite)))
          assert.equal(error, undefined, `${testCase.number} ${testCase.title}`);
        device.precision = "fast";
      }));

    it("have the results of several threads in fast mode, alone and in graphs", () =>
      underPressure(async () => {
        const n = 100_000;
        const scale = kernel("scale", { x: view(f64), a: f64, s: sum(f64) }, ({ x, a, s }, i) => {
          x[i] = a * x[i] + +1 / (i + 1);
          s.add(x[i]);
        });
        const results: number[][] = [[], []];
        for (const sums of results) {
          const x = device.array(f64, n);
          const launch = device.prepare(scale, { x, a: 0.9 }, range(n));
          const graph = device.queue.capture(() => {
            for (let k = 0; k < 3; k++) device.queue.submit(launch);
          });
          // An odd number of programs, so that the second time the other half is left to the calling thread.
          for (let k = 0; k < 7; k++) {
            device.queue.submit(k % 2 ? graph : launch);
            sums.push((await device.queue.results(launch)).s);
          }
          graph.free();
          launch.free();
          x.free();
        }
        assert.deepEqual(results[0], results[1]);
      }));
  });
