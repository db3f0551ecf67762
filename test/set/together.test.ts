import assert from "node:assert/strict";
import { test } from "node:test";
import { IsoformError } from "isoform";
import { listed, onAllRanks, together } from "../../src/set/together.js";

/** Ranks of one process: what each gives is kept until all have, in place of messages. */
function ranksOf(count: number) {
  const given: unknown[] = [];
  const waiting: (() => void)[] = [];
  const whats: string[] = [];
  const exchange = async <T>(value: T, what: string): Promise<T[]> => {
    whats.push(what);
    given.push(value);
    if (given.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
    else waiting.forEach((go) => go());
    return given as T[];
  };
  return { ranks: { count, exchange }, whats };
}

const fails = (message: string) => (): Promise<never> => Promise.reject(new IsoformError(message));

test("work that succeeds on all ranks gives each its own result, and nothing is undone", async () => {
  const { ranks, whats } = ranksOf(3);
  const undone: number[] = [];
  const undo = (n: number): Promise<void> => Promise.resolve(void undone.push(n));
  assert.deepEqual(await Promise.all([5, 6, 7].map((n) => together(ranks, () => Promise.resolve(n), undo))), [5, 6, 7]);
  assert.deepEqual([undone, whats.length], [[], 3]);
});

test("work that fails on some ranks fails on all with the first one's message, and the others undo theirs", async () => {
  const { ranks } = ranksOf(4);
  const undone: number[] = [];
  const undo = (n: number): Promise<void> => Promise.resolve(void undone.push(n));
  const works = [() => Promise.resolve(5), fails("no disk"), () => Promise.resolve(7), () => Promise.reject(new TypeError("odd"))];
  const ends = await Promise.allSettled(works.map((work) => together<number>(ranks, work, undo)));
  const errors = ends.map((end) => (end.status === "rejected" ? (end.reason as Error) : undefined));
  assert.deepEqual(
    errors.map((error) => error?.message),
    Array<string>(4).fill("rank 1 of 4: no disk (and on 1 other ranks: 3)"),
  );
  assert.ok(errors.every((error) => error instanceof IsoformError));
  assert.deepEqual(
    errors.map((error) => (error?.cause as Error | undefined)?.message),
    [undefined, "no disk", undefined, "odd"],
  );
  assert.deepEqual(undone, [5, 7]);
});

test("a single failure names no other rank, and other errors are told with their names", async () => {
  const { ranks } = ranksOf(2);
  const ends = await Promise.allSettled([
    together(ranks, () => Promise.resolve(1)),
    together(ranks, () => Promise.reject(new TypeError("odd"))),
  ]);
  assert.deepEqual(
    ends.map((end) => end.status === "rejected" && (end.reason as Error).message),
    Array<string>(2).fill("rank 1 of 2: TypeError: odd"),
  );
});

test("what is thrown and is not an error is told as text", async () => {
  const { ranks } = ranksOf(2);
  const odd = (): Promise<number> => Promise.reject(7 as unknown as Error);
  await assert.rejects(Promise.all([together(ranks, odd), together(ranks, () => Promise.resolve(1))]), {
    message: "rank 0 of 2: 7",
  });
});

test("one process alone asks nobody, and its errors are its own", async () => {
  const { ranks, whats } = ranksOf(1);
  assert.equal(await together(ranks, () => Promise.resolve(3)), 3);
  await assert.rejects(together(ranks, fails("mine")), { message: "mine" });
  assert.equal(await onAllRanks({}, () => Promise.resolve(4)), 4);
  assert.equal(whats.length, 0);
});

test("at most eight ranks are named", () => {
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
  assert.equal(listed(numbers(8)), "0, 1, 2, 3, 4, 5, 6, 7");
  assert.equal(listed(numbers(9)), "0, 1, 2, 3, 4, 5, 6, 7, ...");
});
