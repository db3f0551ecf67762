import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { DIGEST_BLOCK } from "../../src/io/block-digests.js";
import { previousOf, readCheckpoint, readState, writeCheckpoint, writeState, type CheckpointedArray } from "../../src/io/index.js";
import type { DeviceSet } from "../../src/set/index.js";
import { onRanks } from "./ranks-in-turn.js";

/* Checkpoints that ranks write in pieces: each rank has a run of one array, and all have another one alike. */

const folder = mkdtempSync(join(tmpdir(), "isoform-pieces-"));
const path = join(folder, "run.ckpt");
const { bytes } = DIGEST_BLOCK;
after(() => {
  DIGEST_BLOCK.bytes = bytes;
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  // So small that a piece has several.
  DIGEST_BLOCK.bytes = 100;
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
});

const LENGTH = 90;

/** Arrays of a rank: a run of `values`, which is uneven over the ranks, and `alike`; `got` has what was restored. */
function state(set: DeviceSet | undefined, value: number, got: number[] = [], give?: () => Promise<void>): CheckpointedArray[] {
  const [rank, count] = [set?.ranks?.rank ?? 0, set?.ranks?.count ?? 1];
  const begin = (n: number): number => Math.floor((n * n * LENGTH) / count ** 2);
  const [first, length] = [begin(rank), begin(rank + 1) - begin(rank)];
  const put = (values: ArrayLike<number>): void => void got.push(...Array.from(values));
  const read = async () => {
    await give?.();
    return Float64Array.from({ length }, (_, n) => value + first + n);
  };
  return [
    { name: "values", type: "f64", length: LENGTH, ...(set && { piece: { set, first, length } }), read, write: put },
    { name: "alike", type: "i32", length: 2, set, read: async () => Int32Array.of(value, -1), write: put },
  ];
}

const write = (count: number, value: number): Promise<(void | Error)[]> =>
  onRanks(count, (set) => writeCheckpoint(path, state(set, value), { value }));

/** Writes, and fails where some rank could not. */
async function written(count: number, value: number): Promise<void> {
  for (const ended of await write(count, value)) assert.equal(ended, undefined);
}

/** Restores on some ranks; what each has got, or its error. */
const restored = (count: number, from = path): Promise<(number[] | Error)[]> =>
  onRanks(count, async (set) => {
    const got: number[] = [];
    await (await readCheckpoint(from)).restore(state(set, 0, got));
    return got;
  });

/** All values by rank, once. */
function requireValue(lists: readonly (number[] | Error)[], value: number): void {
  const all = lists.flatMap((list) => (list instanceof Error ? assert.fail(list) : list.slice(0, -2)));
  assert.deepEqual(
    all,
    Array.from({ length: LENGTH }, (_, n) => value + n),
  );
  for (const list of lists) assert.deepEqual((list as number[]).slice(-2), [value, -1]);
}

/** The same message on all ranks, of an IsoformError. */
function requireAlike(ended: readonly unknown[], message: RegExp): void {
  for (const error of ended) {
    assert.ok(error instanceof Error && error.name === "IsoformError", String(error));
    assert.match(error.message, message);
    assert.equal(error.message, (ended[0] as Error).message);
  }
}

const folders = (): string[] => readdirSync(folder).filter((name) => /\.[0-9a-f]{16}$/.test(name));
const piecesIn = (name: string): string[] => readdirSync(join(folder, name)).sort();
async function folderNamed(by: string): Promise<string> {
  const { head } = await readState(by, "isoform checkpoint 1");
  return (head as { pieces: { folder: string } }).pieces.folder;
}

test("any number of ranks, and one process, go on with a checkpoint of any", async () => {
  for (const count of [1, 2, 3]) {
    await written(count, 100 * count);
    for (const others of [1, 2, 3, 5]) requireValue(await restored(others), 100 * count);
    const got: number[] = [];
    const found = await readCheckpoint(path);
    await found.restore(state(undefined, 0, got));
    requireValue([got], 100 * count);
    assert.deepEqual(found.metadata, { value: 100 * count });
    assert.deepEqual(
      (await found.arrays()).map((array) => array.constructor.name),
      ["Float64Array", "Int32Array"],
    );
  }
  assert.deepEqual(piecesIn(await folderNamed(path)), ["r00000", "r00001", "r00002"]);
});

test("ranks may have no values of an array", async () => {
  await written(10, 7);
  requireValue(await restored(2), 7);
});

test("the index comes once all pieces are on the disk", async () => {
  await written(2, 1);
  let go = (): void => undefined;
  const late = new Promise<void>((resolve) => (go = resolve));
  const writing = onRanks(3, (set, rank) =>
    writeCheckpoint(
      path,
      state(set, 2, [], () => (rank === 1 ? late : Promise.resolve())),
    ),
  );
  const isThere = (): boolean => folders().some((name) => existsSync(join(folder, name, "r00002")));
  while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 5));
  await new Promise((resolve) => setTimeout(resolve, 50));
  requireValue(await restored(2), 1);
  go();
  await writing;
  requireValue(await restored(2), 2);
});

test("a rank that cannot write is told to all, and the checkpoint stays", async () => {
  await written(3, 1);
  const fails = (set: DeviceSet, rank: number) => state(set, 2, [], rank === 1 ? () => Promise.reject(new Error("disk full")) : undefined);
  requireAlike(await onRanks(3, (set, rank) => writeCheckpoint(path, fails(set, rank))), /^rank 1 of 3: disk full$/);
  requireValue(await restored(3), 1);
  assert.deepEqual(folders(), [await folderNamed(path)]);

  // The folder goes away while they write.
  const loses = (set: DeviceSet, rank: number) =>
    state(set, 2, [], async () => {
      const named = await folderNamed(path);
      if (rank === 0) for (const name of folders()) if (name !== named) renameSync(join(folder, name), join(folder, "gone"));
    });
  requireAlike(await onRanks(3, (set, rank) => writeCheckpoint(path, loses(set, rank))), /r0000\d/);
  requireValue(await restored(3), 1);

  const nowhere = join(folder, "no/where");
  requireAlike(await onRanks(2, (set) => writeCheckpoint(nowhere, state(set, 2))), /cannot write .*no.where: ENOENT/);
});

test("pieces that do not cover an array are refused", async () => {
  const [first, second] = await onRanks(2, (set, rank) => {
    const [values, alike] = state(set, 1);
    return writeCheckpoint(path, [{ ...values, piece: { ...values.piece!, first: 3 * rank } }, alike]);
  });
  requireAlike([first, second], /rank 1 gives values of an array from 3 on, and the ranks before end at 22/);
  assert.deepEqual(readdirSync(folder), []);
});

test("a piece that is damaged, cut, missing or of another checkpoint is refused by name, and the one before is offered", async () => {
  await written(2, 1);
  await written(2, 2);
  const [now, before] = [await folderNamed(path), await folderNamed(previousOf(path))];
  const piece = join(folder, now, "r00001");
  const whole = readFileSync(piece);
  const offered = /; the previous checkpoint is intact: .*run\.ckpt\.previous$/;
  const refused = async (message: RegExp): Promise<void> => {
    const got: number[][] = [[], []];
    const ended = await onRanks(2, async (set, rank) => (await readCheckpoint(path)).restore(state(set, 0, got[rank])));
    requireAlike(ended, message);
    requireAlike(ended, offered);
    assert.deepEqual(got, [[], []]);
    const alone: number[] = [];
    await assert.rejects(async () => (await readCheckpoint(path)).restore(state(undefined, 0, alone)), message);
    assert.deepEqual(alone, []);
    requireValue(await restored(2, previousOf(path)), 1);
  };
  // The last bytes are the piece's own checksum, which nobody reads.
  for (let at = 0; at < whole.length - 32; at += 37) {
    const damaged = Buffer.from(whole);
    damaged[at] ^= 1;
    writeFileSync(piece, damaged);
    await refused(/r00001 is damaged, or belongs to another checkpoint/);
  }
  writeFileSync(piece, whole.subarray(0, -1));
  await refused(/r00001, a piece of .*run\.ckpt, has \d+ bytes in place of \d+: keep the folder .* beside/);
  rmSync(piece);
  await refused(/run\.ckpt lacks its piece .*r00001/);
  writeFileSync(piece, readFileSync(join(folder, before, "r00001")));
  await refused(/r00001 is damaged, or belongs to another checkpoint/);
  writeFileSync(piece, readFileSync(join(folder, now, "r00000")));
  await refused(/r00001/);
  writeFileSync(piece, whole);
  requireValue(await restored(2), 2);
});

test("an index whose digest is right and whose meaning is not is refused", async () => {
  await written(2, 1);
  const { head, arrays } = await readState(path, "isoform checkpoint 1");
  const { pieces, ...others } = head as { pieces: { arrays: object[] } };
  const [first, second] = pieces.arrays as { counts?: number[] }[];
  for (const wrong of [
    null,
    {},
    { ...pieces, folder: "../elsewhere" },
    { ...pieces, folder: join(folder, "absolute") },
    { ...pieces, block: 0 },
    { ...pieces, block: 1e300 },
    { ...pieces, bytes: [1] },
    { ...pieces, bytes: [-1, 5] },
    { ...pieces, arrays: [] },
    { ...pieces, arrays: [first, first] },
    { ...pieces, arrays: [{ ...first, type: "constructor" }, second] },
    { ...pieces, arrays: [{ ...first, counts: [1, 2, 3] }, second] },
    { ...pieces, arrays: [null, null] },
    ...[
      {},
      [[[0, 22, 1, 0]]],
      [[[0, 22, 1, 0]], [[22, 67, 1, 0]]],
      [[[0, 22, 1, 0]], [[21, 68, 1, 0]]],
      [[[0, 22, 1, 0]], [[22, 34, 2, 33]]],
      [[[0, 22, 1, 0]], [[22, 34, 2, 35]]],
      [[[0, 22, 1, 0]], [[22, 68, 1]]],
      [[[0, 22, 1, 0]], [[22, -68, -1, 0]]],
      [[[0, 22, 1, 0]], [[22, 68, 1, 1e300]]],
    ].map((blocks) => ({ ...pieces, arrays: [{ ...first, blocks }, second] })),
  ]) {
    await writeState(path, "isoform checkpoint 1", { head: { ...others, pieces: wrong }, arrays });
    await assert.rejects(
      readCheckpoint(path),
      { name: "IsoformError", message: /run\.ckpt is an incomplete checkpoint/ },
      JSON.stringify(wrong),
    );
  }
  const moved = { ...pieces, arrays: [{ ...first, counts: first.counts!.toReversed() }, second] };
  await writeState(path, "isoform checkpoint 1", { head: { ...others, pieces: moved }, arrays });
  requireAlike(await restored(2), /r0000\d is a piece of another checkpoint/);
});

test("a rank reads the blocks of its own values, and no others", async () => {
  await written(3, 1);
  const named = await folderNamed(path);
  for (const rank of [0, 2]) {
    const piece = join(folder, named, `r0000${rank}`);
    writeFileSync(piece, Buffer.alloc(readFileSync(piece).length));
  }
  const found = await readCheckpoint(path);
  const [values] = await found.read({}, ({ length }, n) => (n === 0 ? { first: 10, end: 40 } : { first: 0, end: length }));
  assert.deepEqual([values[0], values.length], [11, 30]);
  await assert.rejects(found.stored[0].values(9, 40), /r00000 is damaged/);
});

test("ranks that have opened different checkpoints go no further", async () => {
  await written(2, 1);
  await written(2, 2);
  const ended = await onRanks(2, async (set, rank) => (await readCheckpoint(rank === 0 ? path : previousOf(path))).restore(state(set, 0)));
  for (const error of ended) assert.match(String(error), /another checkpoint on rank 1 than on rank 0/);
});

test("folders that no index names are removed, unless somebody may be writing them", async () => {
  const mark = (host: string, pid: number): string => `run.ckpt.${host}.${pid}.${"0123456789abcdef"}`;
  const host = hostname()
    .replace(/[^\w-]/g, "_")
    .slice(0, 40);
  const make = (name: string, content = "r00000", age = 0): string => {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, content), "");
    const time = Date.now() / 1000 - age;
    for (const each of [join(folder, name, content), join(folder, name)]) utimesSync(each, time, time);
    return name;
  };
  const day = 24 * 3600;
  const gone = [make(mark(host, 2 ** 22 + 5)), make(mark("elsewhere", 1), "r00000", 2 * day)];
  const kept = [
    make(mark(host, process.ppid)),
    make(mark("elsewhere", 2), "r00000", day / 2),
    make(mark(host, 2 ** 22 + 6), "notes.txt"),
    make(`other.${mark(host, 2 ** 22 + 5)}`),
  ];
  for (const value of [1, 2, 3, 4]) await written(2, value);
  assert.deepEqual(
    folders().sort(),
    [...kept, await folderNamed(path), await folderNamed(previousOf(path))].sort(),
    `without ${gone.join(" and ")}`,
  );

  // One process writes its file in the same place, twice.
  await writeCheckpoint(path, state(undefined, 5));
  requireValue(await restored(3), 5);
  requireValue(await restored(3, previousOf(path)), 4);
  assert.deepEqual(folders().sort(), [...kept, await folderNamed(previousOf(path))].sort());
  await writeCheckpoint(path, state(undefined, 6));
  assert.deepEqual(folders().sort(), kept.toSorted());
  await written(2, 7);
  requireValue(await restored(1, previousOf(path)), 6);

  // An index that cannot be read may name any folder.
  const dead = make(mark(host, 2 ** 22 + 7));
  writeFileSync(previousOf(path), "damaged");
  renameSync(path, join(folder, "aside"));
  await written(2, 8);
  assert.ok(folders().includes(dead));
});
