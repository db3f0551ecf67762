import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { open } from "../../../src/device/open.js";
import { range, teams } from "../../../src/device/launch/policy.js";
import { KernelError } from "../../../src/base/errors.js";
import { kernel, teamKernel } from "../../../src/kernel/declare/kernel.js";
import { f64, i32, max, scatter, table, u32, view } from "../../../src/kernel/declare/params.js";

const device = await open("js-debug");
after(() => device.close());

/** The error names the kernel and a line of this file, and matches. */
async function fails(run: () => Promise<unknown>, kernelName: string, message: RegExp): Promise<void> {
  await assert.rejects(run, (error: Error) => {
    assert.ok(error instanceof KernelError, error.stack);
    assert.match(error.message, new RegExp(`^kernel "${kernelName}", .*js-debug\\.test\\.ts:\\d+:\\d+: `));
    assert.match(error.message, message);
    return true;
  });
}

describe("js-debug", () => {
  const x = device.from(f64, [1, 2, 3, 4, 5]);

  it("calls the function itself, with its console.log", async () => {
    const seen: unknown[][] = [];
    const { log } = console;
    console.log = (...args: unknown[]) => seen.push(args);
    try {
      const talk = kernel("talk", { x: view(f64), y: view(f64) }, ({ x, y }, i) => {
        y[i] = x[i] * 2;
        if (i === 3) console.log("at", i, y[i]);
      });
      const y = device.array(f64, 5);
      await device.run(talk, { x, y }, range(5));
      assert.deepEqual([...(await device.queue.read(y))], [2, 4, 6, 8, 10]);
    } finally {
      console.log = log;
    }
    assert.deepEqual(seen, [["at", 3, 8]]);
  });

  it("reports an index out of bounds with the element", async () => {
    const gather = kernel("gather", { x: view(f64), at: view(i32), y: view(f64) }, ({ x, at, y }, i) => {
      y[i] = x[at[i]];
    });
    const y = device.array(f64, 3);
    await fails(
      () => device.run(gather, { x, at: device.from(i32, [0, 4, 5]), y }, range(3)),
      "gather",
      /index 5 is outside axis 0 of "x", which has extent 5 \(element \[2\]\)/,
    );
    assert.deepEqual([...(await device.queue.read(y))], [0, 0, 0], "a launch that failed has written nothing");
    const plane = device.array(f64, [4, 6]);
    const outside = kernel("outside", { p: view(f64, 2, { disjoint: true }), at: view(i32) }, ({ p, at }, i, j) => {
      p[i][j] = p[i][at[j]];
    });
    await fails(
      () => device.run(outside, { p: plane, at: device.from(i32, [0, -1]) }, range([1, 2], [1, 2])),
      "outside",
      /index -1 is outside axis 1 of "p", which has extent 6 \(element \[1, 1\]\)/,
    );
  });

  it("reports an index out of bounds in private arrays, tables and scatter targets", async () => {
    const local = kernel("local", { at: view(i32), y: view(f64) }, ({ at, y }, i) => {
      const v = new Float64Array(4);
      v[at[i]] = 1;
      y[i] = v[0] + v[at[i]];
    });
    const at = device.from(i32, [1, 4]),
      y = device.array(f64, 2);
    await fails(() => device.run(local, { at, y }, range(2)), "local", /index 4 is outside axis 0 of "v".*extent 4/);
    const looked = kernel("looked", { at: view(i32), y: view(f64), t: table(f64, [1, 2, 3, 4]) }, ({ at, y, t }, i) => {
      y[i] = t[at[i]];
    });
    await fails(() => device.run(looked, { at, y }, range(2)), "looked", /index 4 is outside axis 0 of "t", which has extent 4/);
    const spread = kernel("spread", { at: view(i32), h: scatter(f64) }, ({ at, h }, i) => {
      h.add(at[i], 1);
    });
    await fails(() => device.run(spread, { at, h: device.array(f64, 3) }, range(2)), "spread", /index 4 is outside axis 0 of "h"/);
  });

  it("reports integer overflow, stored and intermediate, but not where wrapping is written", async () => {
    const count = kernel("count", { n: view(i32), o: view(i32) }, ({ n, o }, i) => {
      o[i] = n[i] + 1;
    });
    const n = device.from(i32, [5, 2147483647]),
      o = device.array(i32, 2);
    await fails(
      () => device.run(count, { n, o }, range(2)),
      "count",
      /o\[1\] is i32 and is given 2147483648: integer overflow.*element \[1\]/,
    );
    const between = kernel("between", { n: view(i32), o: view(i32) }, ({ n, o }, i) => {
      o[i] = (n[i] * 2) % 7;
    });
    await fails(
      () => device.run(between, { n, o }, range(2)),
      "between",
      /integer overflow, 4294967294 does not fit i32 \(element \[1\]\)/,
    );
    const wraps = kernel("wraps", { n: view(i32), o: view(i32), u: view(u32) }, ({ n, o, u }, i) => {
      o[i] = (n[i] + 1) | 0;
      u[i] = (Math.imul(n[i], 3) + 5) >>> 0;
    });
    await device.run(wraps, { n, o, u: device.array(u32, 2) }, range(2));
    assert.deepEqual([...(await device.queue.read(o))], [6, -2147483648]);
  });

  it("reports integers divided by zero, stored, used as an index and between, but not where 0 is written", async () => {
    const n = device.from(i32, [7, 5]),
      d = device.from(i32, [2, 0]),
      o = device.array(i32, 2),
      f = device.array(f64, 2);
    const remainder = kernel("remainder", { n: view(i32), d: view(i32), o: view(i32) }, ({ n, d, o }, i) => {
      o[i] = n[i] % d[i];
    });
    await fails(
      () => device.run(remainder, { n, d, o }, range(2)),
      "remainder",
      /o\[1\] is i32 and is given NaN: an integer is divided by zero, or a local has no value yet \(element \[1\]\) \(dividing by zero gives 0 on/,
    );
    const quotient = kernel("quotient", { n: view(i32), d: view(i32), o: view(i32) }, ({ n, d, o }, i) => {
      o[i] = Math.floor(n[i] / d[i]);
    });
    await fails(() => device.run(quotient, { n, d, o }, range(2)), "quotient", /o\[1\] .* Infinity: an integer is divided by zero/);
    const place = kernel("place", { n: view(i32), d: view(i32), o: view(i32) }, ({ n, d, o }, i) => {
      o[i] = n[n[i] % d[i]];
    });
    await fails(() => device.run(place, { n, d, o }, range(2)), "place", /index of axis 0 of "n" is NaN: an integer is divided by zero/);
    const fraction = kernel("fraction", { n: view(i32), d: view(i32), f: view(f64) }, ({ n, d, f }, i) => {
      f[i] = 0.5 * (n[i] % d[i]);
    });
    await fails(
      () => device.run(fraction, { n, d, f }, range(2)),
      "fraction",
      /an integer is divided by zero, which gives 0 \(element \[1\]\)/,
    );
    const whole = kernel("whole", { n: view(i32), d: view(i32), o: view(i32), f: view(f64) }, ({ n, d, o, f }, i) => {
      o[i] = Math.floor(n[i] / d[i]) | 0;
      f[i] = 0.5 * ((n[i] % d[i]) | 0);
    });
    await device.run(whole, { n, d, o, f }, range(2));
    assert.deepEqual([...(await device.queue.read(o))], [3, 0]);
    assert.deepEqual([...(await device.queue.read(f))], [0.5, 0]);
  });

  it("reports a local that is read before it has a value", async () => {
    const unset = kernel("unset", { x: view(f64), y: view(f64) }, ({ x, y }, i) => {
      let v: number;
      if (x[i] > 2) v = x[i];
      y[i] = v! + 1;
    });
    await fails(
      () => device.run(unset, { x, y: device.array(f64, 5) }, range(5)),
      "unset",
      /"v.*" is read before it has a value \(element \[0\]\)/,
    );
  });

  it("reports elements that race", async () => {
    const at = device.from(i32, [0, 1, 1]),
      y = device.array(f64, 3);
    const both = kernel("both", { at: view(i32), y: view(f64, 1, { disjoint: true }) }, ({ at, y }, i) => {
      y[at[i]] = i;
    });
    await fails(
      () => device.run(both, { at, y }, range(3)),
      "both",
      /y\[1\] is written by element \[1\] too: elements race \(element \[2\]\).*declared disjoint/,
    );
    const neighbour = kernel("neighbour", { at: view(i32), y: view(f64, 1, { disjoint: true }) }, ({ at, y }, i) => {
      y[i] = y[at[i]] + 1;
    });
    await fails(
      () => device.run(neighbour, { at, y }, range(3)),
      "neighbour",
      /y\[1\] is read, and element \[1\] writes it: elements race \(element \[2\]\)/,
    );
    const ahead = device.from(i32, [1, 1, 2]);
    await fails(
      () => device.run(neighbour, { at: ahead, y }, range(3)),
      "neighbour",
      /y\[1\] is written, and element \[0\] reads it: elements race \(element \[1\]\)/,
    );
  });

  it("reports undefined scratch and members of a team that race", async () => {
    const undefinedScratch = teamKernel("undefinedScratch", { y: view(f64, 2) }, ({ y }, team) => {
      const s = team.scratch("f64", 4);
      team.range(3, (j) => {
        s[j] = j;
      });
      team.range(4, (j) => {
        y[team.index][j] = s[j];
      });
    });
    const y = device.array(f64, [2, 4]);
    await fails(
      () => device.run(undefinedScratch, { y }, teams(2)),
      "undefinedScratch",
      /scratch\[3\] is read before it is written.*team 0, member 3/,
    );
    const early = teamKernel("early", { at: view(i32), y: view(f64, 2, { disjoint: true }), s: max(f64) }, ({ at, y, s }, team) => {
      team.range(4, (j) => {
        y[team.index][j] = y[team.index][at[j]] + 1;
      });
      s.max(y[team.index][0]);
    });
    await fails(
      () => device.run(early, { at: device.from(i32, [0, 0, 2, 3]), y }, teams(2)),
      "early",
      /y\[0\]\[0\] is read, and another member of the team writes it.*team 0, member 1/,
    );
  });

  it("reports members and lanes that race in scratch that is declared disjoint", async () => {
    const turned = teamKernel("turned", { at: view(i32), y: view(f64, 2) }, ({ at, y }, team) => {
      const s = team.scratch("f64", 4, { disjoint: true });
      team.range(4, (j) => {
        s[at[j]] = j;
      });
      team.range(4, (j) => {
        y[team.index][j] = s[j];
      });
    });
    const y = device.array(f64, [2, 4]);
    await fails(
      () => device.run(turned, { at: device.from(i32, [0, 2, 2, 3]), y }, teams(2)),
      "turned",
      /scratch\[2\] is written, and another member of the team reads or writes it in the same step: members race.*team 0, member 2/,
    );
    await device.run(turned, { at: device.from(i32, [3, 1, 0, 2]), y }, teams(2));
    assert.deepEqual([...(await device.queue.read(y))], [2, 1, 3, 0, 2, 1, 3, 0]);
    const lanesRace = teamKernel("lanesRace", { at: view(i32), y: view(f64, 2) }, ({ at, y }, team) => {
      const s = team.scratch("f64", 8, { disjoint: true });
      team.range(2, (j, lanes) => {
        lanes.range(4, (k) => {
          s[4 * j + at[k]] = k;
        });
      });
      y[team.index][0] = s[0];
    });
    await fails(
      () => device.run(lanesRace, { at: device.from(i32, [0, 2, 2, 3]), y }, teams(2)),
      "lanesRace",
      /scratch\[2\] is written, and another lane of the member reads or writes it.*team 0, member 0, lane 2/,
    );
    await device.run(lanesRace, { at: device.from(i32, [0, 3, 1, 2]), y }, teams(2));
  });

  it("reports lanes of a member that race", async () => {
    const early = teamKernel("earlyLanes", { at: view(i32), y: view(f64, 3, { disjoint: true }) }, ({ at, y }, team) => {
      team.range(2, (j, lanes) => {
        lanes.range(4, (k) => {
          y[team.index][j][k] = y[team.index][j][at[k]] + 1;
        });
      });
    });
    const y = device.array(f64, [2, 2, 4]);
    await fails(
      () => device.run(early, { at: device.from(i32, [0, 0, 2, 3]), y }, teams(2)),
      "earlyLanes",
      /y\[0\]\[0\]\[0\] is read, and another lane of the member writes it.*team 0, member 0, lane 1/,
    );
    await device.run(early, { at: device.from(i32, [0, 1, 2, 3]), y }, teams(2));
  });
});
