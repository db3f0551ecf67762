import assert from "node:assert/strict";
import { after, it } from "node:test";
import { f64, open, range, teams, u32 } from "isoform";
import { scanTilesByTeams } from "../../src/patterns/scan-by-teams.js";
import { scanTilesInOrder } from "../../src/patterns/scan-in-order.js";

const device = await open("js", { threads: 1 });
after(() => device.close());

/** Small tiles, of which the last is not full. */
const [BLOCK, BLOCKS, LENGTH] = [3, 4, 31];
const TILE = BLOCK * BLOCKS;
const tiles = Math.ceil(LENGTH / TILE);
const values = Array.from({ length: LENGTH }, (_, n) => ((n * 7) % 11) + 1);

/** Sums of the elements before each, its own included or not; each tile begins with what it is given, and a flag ends all sums before. */
function sums(flags: readonly number[], carries: readonly number[] | undefined, exclusive: boolean) {
  let sum = 0;
  const totals: number[] = [];
  const [begun, prefixes]: number[][] = [[], []];
  for (const [n, value] of values.entries()) {
    const tile = Math.floor(n / TILE);
    if (n % TILE === 0) [sum, begun[tile]] = [tile > 0 ? (carries?.[tile - 1] ?? 0) : 0, 0];
    if (flags[n]) [sum, begun[tile]] = [0, 1];
    if (exclusive) prefixes.push(sum);
    sum += value;
    if (!exclusive) prefixes.push(sum);
    totals[tile] = sum;
  }
  return { totals, begun, prefixes };
}

const FLAGS: Readonly<Record<string, readonly number[]>> = {
  none: values.map(() => 0),
  few: values.map((_, n) => Number([5, 13, 14, 30].includes(n))),
  "at the ends of blocks": values.map((_, n) => Number(n % BLOCK === 0 && n % 2 === 0)),
};

for (const [name, flags] of Object.entries(FLAGS))
  it(`tiles are scanned alike by teams and in order, segments: ${name}`, async () => {
    const segmented = name !== "none";
    const read = async (view: Parameters<typeof device.queue.read>[0]): Promise<number[]> => [...(await device.queue.read(view))];
    for (const byTeams of [true, false])
      for (const exclusive of [false, true])
        for (const carries of [undefined, [100, 200]]) {
          const args = {
            input: device.from(f64, values),
            flags: device.from(u32, flags),
            carries: device.from(f64, carries ?? [0]),
            output: device.array(f64, LENGTH),
            totals: device.array(f64, tiles),
            totalFlags: device.array(u32, tiles),
          };
          const run = async (onlyTotals: boolean): Promise<void> => {
            const all = {
              ...args,
              identity: 0,
              onlyTotals,
              carried: carries !== undefined,
              segmented,
              exclusive,
              keepsTotal: false,
              BLOCK,
              BLOCKS,
            };
            if (byTeams) await device.run(scanTilesByTeams("f64", "sum"), all, teams(tiles, { size: BLOCKS }));
            else await device.run(scanTilesInOrder("f64", "sum"), all, range(tiles));
          };
          await run(true);
          await run(false);
          const where = `${byTeams ? "teams" : "in order"}, ${exclusive ? "exclusive" : "inclusive"}, ${carries ? "carried" : "alone"}`;
          const own = sums(flags, undefined, exclusive);
          assert.deepEqual(await read(args.totals), own.totals, where);
          if (segmented) assert.deepEqual(await read(args.totalFlags), own.begun, where);
          assert.deepEqual(await read(args.output), sums(flags, carries, exclusive).prefixes, where);
          for (const view of Object.values(args)) view.free();
        }
  });
