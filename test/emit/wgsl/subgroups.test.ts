import assert from "node:assert/strict";
import { test } from "node:test";
import { emitWgsl } from "../../../src/emit/wgsl/kernel.js";
import { f32, f64, teamKernel, view } from "../../../src/index.js";
import { analyseAccess } from "../../../src/ir/analysis/access.js";
import { compileKernel } from "../../../src/kernel/compile.js";
import type { Kernel } from "../../../src/kernel/declare/kernel.js";
import { matchesSnapshot } from "../snapshot.js";

/** The sums of `n` columns of a team's elements, by teams of `members` on a device with subgroups of `subgroupSize`. */
function sums(type: typeof f32 | typeof f64, n: number, members: number, subgroupSize: number): string {
  const columns = Array.from({ length: n }, (_, k) => k);
  const text = `({ x, y }, team) => {
    const s = team.reduce(x[0].length, { ${columns.map((k) => `s${k}: "sum"`).join(", ")} }, (j, r) => {
      ${columns.map((k) => `r.s${k}.add(x[team.index][j][${k}]);`).join("\n")}
    });
    ${columns.map((k) => `y[team.index][${k}] = s.s${k};`).join("\n")}
  }`;
  const made = teamKernel("sums", { x: view(type, 3), y: view(type, 2) }, new Function(`return ${text}`)() as never);
  const { ir } = compileKernel(made as unknown as Kernel, {});
  const program = emitWgsl(ir, analyseAccess(ir), {
    strict: false,
    sizes: "settled",
    inChunks: false,
    subgroups: true,
    subgroupSize,
    unitStrides: { x: [false, false, true], y: [false, true] },
    groups: { views: { x: 0, y: 1 }, outputs: {}, temporary: 2 },
    representations: [type.type, type.type],
    atStart: { x: true, y: true },
    partials: false,
    scatter: {},
    copies: {},
    members,
  });
  return program.main.source;
}

/** What happens where subgroups are full. */
const whereFull = (source: string): string[] =>
  /if subgroup_count == \d+u \{\n(.*?)\n {6}\} else \{/s
    .exec(source)![1]
    .split("\n")
    .map((line) => line.trim());

/** Runs lines without control flow in all lanes of a subgroup at once, and gives the variables of lane 0. */
function run(lines: readonly string[], lanes: readonly Record<string, unknown>[]): Record<string, unknown> {
  for (const line of lines) {
    const [, name, value] = /^(?:let )?(\w+) = (.*);$/.exec(line)!;
    const js = value.replace(/(\d)u\b/g, "$1");
    const [, of, argument, other] = /^subgroup(ShuffleXor|Broadcast)\((.*), (\d+)\)$/.exec(js) ?? [undefined, undefined, js, "0"];
    const values = lanes.map((lane) =>
      new Function("select", "add_f64", ...Object.keys(lane), `return ${argument};`)(select, add, ...Object.values(lane)),
    );
    lanes.forEach((lane, l) => (lane[name] = values[of === undefined ? l : of === "Broadcast" ? Number(other) : l ^ Number(other)]));
  }
  return lanes[0];
}
const select = (no: unknown, yes: unknown, condition: boolean): unknown => (condition ? yes : no);
const add = (a: number, b: number): number => a + b;

test("every lane's part of every sum is folded once, whatever their number", () => {
  for (const size of [4, 32, 128])
    for (const n of [1, 2, 3, 5, 6, 7, 12, 31, 33]) {
      const columns = Array.from({ length: n }, (_, k) => k);
      // Scattered, so that no part that is missing or doubled is made up for by others.
      const part = (lane: number, k: number) => (3 ** ((lane + 7 * k) % 20) * (lane + 1)) % 65521;
      const lanes = Array.from({ length: size }, (_, lane) => ({
        subgroup_lane: lane,
        ...Object.fromEntries(columns.map((k) => [`s${k}_part_`, part(lane, k)])),
      }));
      const result = run(whereFull(sums(f64, n, size, size)), lanes);
      for (const k of columns) {
        const expected = lanes.reduce((total, _, lane) => total + part(lane, k), 0);
        assert.equal(result[`s${k}_`], expected, `sum ${k} of ${n} over ${size} lanes`);
      }
    }
});

test("a team that is one subgroup folds 12 sums in 13 steps, without memory or barriers", () => {
  const lines = whereFull(sums(f64, 12, 32, 32));
  assert.equal(lines.filter((line) => line.includes("subgroupShuffleXor")).length, 13);
  assert.doesNotMatch(lines.join("\n"), /cells|Barrier/);
});

test("folds of several subgroups meet in the workgroup's memory, between two barriers", () =>
  matchesSnapshot("emit/wgsl/sums.wgsl", sums(f32, 3, 256, 32)));
