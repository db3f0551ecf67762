import assert from "node:assert/strict";
import test from "node:test";
import { withOwnArrays } from "../../src/schedule/own-arrays.js";
import { f64, i32, teamKernel, view, type Team } from "../../src/index.js";
import { walkStmts } from "../../src/ir/walk.js";
import { compileKernel } from "../../src/kernel/compile.js";

type Row = Record<number, number>;
interface Given {
  x: Row;
  n: number;
}

/** Lengths of the arrays that threads of a team have to themselves. */
function ownLengths(body: (given: Given, team: Team) => void, threads = 256): number[] {
  const { ir } = compileKernel(teamKernel("own", { x: view(f64, 1, { disjoint: true }), n: i32 }, body), {});
  const lengths: number[] = [];
  walkStmts(
    withOwnArrays(ir, threads).body,
    (stmt) => void (stmt.kind === "array" && stmt.space === "private" && lengths.push(stmt.length)),
  );
  return lengths;
}

const apart = ({ x, n }: Given, team: Team): void => {
  const sums = team.scratch("f64", 128);
  team.range(32, (m) => {
    for (let q = 0; q < 4; q++) sums[m + 32 * q] = 0;
  });
  for (let k = 0; k < n; k++)
    team.range(32, (m) => {
      for (let q = 0; q < 4; q++) sums[m + 32 * q] += x[k + q];
    });
  team.range(32, (m) => {
    x[m] = sums[m] + sums[m + 96];
  });
};

test("scratch that members have to themselves, as many apart as there are members, or together", () => {
  assert.deepEqual(ownLengths(apart), [4]);
  const together = ownLengths(({ x }, team) => {
    const sums = team.scratch("f64", 3 * 32);
    team.range(32, (m) => {
      for (let u = 0; u < 3; u++) sums[3 * m + u] = x[u];
    });
    team.range(32, (m) => {
      x[m] = sums[3 * m] + sums[3 * m + 2];
    });
  });
  assert.deepEqual(together, [3]);
});

test("stays the team's where fewer threads have several members", () => assert.deepEqual(ownLengths(apart, 16), []));

test("stays the team's where one member may touch what is another's", () => {
  const bodies: ((given: Given, team: Team) => void)[] = [
    // A neighbour's.
    ({ x }, team) => {
      const s = team.scratch("f64", 33);
      team.range(32, (m) => {
        s[m] = 1;
      });
      team.range(32, (m) => {
        x[m] = s[m + 1];
      });
    },
    // Two numbers of members.
    ({ x }, team) => {
      const s = team.scratch("f64", 64);
      team.range(64, (m) => {
        s[m] = 1;
      });
      team.range(32, (m) => {
        x[m] = s[m];
      });
    },
    // All members read one element.
    ({ x }, team) => {
      const s = team.scratch("f64", 32);
      team.range(32, (m) => {
        s[m] = 1;
      });
      team.range(32, (m) => {
        x[m] = s[0];
      });
    },
    // One member for all.
    ({ x }, team) => {
      const s = team.scratch("f64", 32);
      team.range(32, (m) => {
        s[m] = 1;
      });
      team.single(() => {
        x[0] = s[3];
      });
    },
    // A fold, whose turns other threads may have.
    ({ x }, team) => {
      const s = team.scratch("f64", 32);
      team.range(32, (m) => {
        s[m] = 1;
      });
      const sum = team.sum(32, (m) => s[m]);
      team.single(() => {
        x[0] = sum;
      });
    },
    // A number of members that is known at the launch.
    ({ x, n }, team) => {
      const s = team.scratch("f64", 32);
      team.range(n, (m) => {
        s[m] = x[m];
      });
      team.range(n, (m) => {
        x[m] = s[m];
      });
    },
    // A place beyond the member's own.
    ({ x, n }, team) => {
      const s = team.scratch("f64", 96);
      team.range(32, (m) => {
        for (let u = 0; u < n; u++) s[3 * m] = x[u];
      });
      team.range(32, (m) => {
        if (m < 31) x[m] = s[3 * m + 3];
      });
    },
    // A place in the data.
    ({ x, n }, team) => {
      const s = team.scratch("f64", 64, { disjoint: true });
      team.range(32, (m) => {
        s[m] = x[m];
        x[m] = s[m + 32 * (n & 1)];
      });
    },
  ];
  assert.deepEqual(
    bodies.map((body) => ownLengths(body)),
    bodies.map(() => []),
  );
});
