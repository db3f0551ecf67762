import assert from "node:assert/strict";
import { joinMpi } from "../../../../src/set/mpi/job.js";
import { MpiTransport } from "../../../../src/set/mpi/transport.js";
import type { Message } from "../../../../src/set/transport.js";

/* Everything that ranks send each other, compared with the values expected. Rank 0 prints how many checks were made. */

const job = await joinMpi();
const patience = 120;
const ranks = job.ranks({ patience });
/** Messages of more than a thousand bytes are cut, as those of more than 2^31 - 1 are otherwise. */
const cut = job.ranks({ patience, piece: 1000 });
const { rank, count } = ranks;
const [after, before] = [(rank + 1) % count, (rank + count - 1) % count];
let checks = 0;

/** Numbers that tell their rank and place. */
const numbers = (of: number, length: number): Float64Array => Float64Array.from({ length }, (_, n) => of * 1e6 + n + 0.5);
const same = (found: unknown, expected: unknown, what: string): void => {
  assert.deepEqual(found, expected, `rank ${rank}: ${what}`);
  checks++;
};

// Round the ring, of sizes about the limit of a piece; a part of a buffer keeps what lies beside it.
for (const [name, of] of Object.entries({ whole: ranks, cut }))
  for (const length of [0, 1, 124, 125, 126, 5000]) {
    const requests = of.requests();
    const memory = new Float64Array(length + 2).fill(-1);
    requests.receive(memory.subarray(1, length + 1), before, 7, "ring");
    requests.send(numbers(rank, length), after, 7, "ring");
    await of.complete(requests);
    same(memory, Float64Array.of(-1, ...numbers(before, length), -1), `${length} numbers ${name}`);
    same(requests.test(), true, "complete requests stay complete");
  }

// Of some messages only the begin is sent, however many pieces there could be.
for (const [name, of] of Object.entries({ whole: ranks, cut }))
  for (const length of [0, 1, 125, 126, 250]) {
    const requests = of.requests();
    const memory = new Float64Array(250).fill(-1);
    requests.receive(memory, before, 8, "begin", true);
    requests.send(numbers(rank, 250), after, 8, "begin", 8 * length);
    await of.complete(requests);
    same(
      memory,
      Float64Array.from([...numbers(before, length), ...Array<number>(250 - length).fill(-1)]),
      `${length} of 250 numbers ${name}`,
    );
  }

// Back and forth between ranks 0 and 1.
const ball = new Int32Array(1);
for (let n = 0; n < 200 && count > 1 && rank < 2; n++) {
  const requests = ranks.requests();
  if (n % 2 === rank) requests.send(ball, 1 - rank, 1, "ball");
  else requests.receive(ball, 1 - rank, 1, "ball");
  await ranks.complete(requests);
  if (n % 2 !== rank) ball[0]++;
}
if (count > 1 && rank < 2) same(ball[0], 200 - rank, "the ball was hit");

// Memory that only requests hold is not collected.
const held = ranks.requests();
const received = new Float64Array(1e5);
held.receive(received, before, 3, "held");
await ranks.barrier();
(() => held.send(numbers(rank, 1e5), after, 3, "held"))();
(globalThis as { gc?: () => void }).gc?.();
await ranks.complete(held);
same(received, numbers(before, 1e5), "memory held by requests");

// Shared memory, as wasm has it.
const shared = new Float64Array(new SharedArrayBuffer(80), 8, 4);
const sharing = ranks.requests();
sharing.receive(shared, before, 4, "shared");
sharing.send(new Float64Array(new SharedArrayBuffer(32)).fill(rank), after, 4, "shared");
await ranks.complete(sharing);
same([...shared], Array<number>(4).fill(before), "shared memory");

for (const [name, of] of Object.entries({ whole: ranks, cut })) {
  const root = count - 1;
  const broadcast = rank === root ? numbers(root, 300) : new Float64Array(300);
  await of.broadcast(broadcast, root);
  same(broadcast, numbers(root, 300), `broadcast ${name}`);
  const lengths = Array.from({ length: count }, (_, n) => (n % 2 ? 0 : 90 + n));
  const all = new Float64Array(lengths.reduce((a, b) => a + b));
  await of.allGatherVarying(
    numbers(rank, lengths[rank]),
    all,
    lengths.map((length) => 8 * length),
  );
  same(all, Float64Array.from(lengths.flatMap((length, n) => [...numbers(n, length)])), `gather of ${lengths.join()} ${name}`);
  await assert.rejects(of.allGatherVarying(numbers(0, 3), all, [8]), /room for|were named/);
  const values = await of.exchange({ rank, text: "x".repeat(rank * 700), array: numbers(rank, rank) }, "values");
  same(
    values,
    Array.from({ length: count }, (_, n) => ({ rank: n, text: "x".repeat(n * 700), array: numbers(n, n) })),
    `exchange ${name}`,
  );
  same(await of.share({ from: rank, nan: NaN }, root, "a value"), { from: root, nan: NaN }, `share ${name}`);
}

const node = job.ranksOfNode({ patience });
same([node.rank, node.count], [rank, count], "one node has all ranks");

// Two members a rank in a ring: halos to the next rank, whose messages are numbered over all.
const rankOf = Array.from({ length: 2 * count }, (_, member) => Math.floor(member / 2));
const transport = new MpiTransport(ranks, rankOf);
const fields = [0, 1].map((n) => ({ own: new Float64Array(64), halo: [new Float64Array(64), new Float64Array(64)], member: 2 * rank + n }));
for (let step = 0; step < 20 && count > 1; step++) {
  for (const { own, member } of fields) own.fill(1000 * step + member);
  const messages = rankOf.flatMap((_, member): Message[] =>
    [1, rankOf.length - 1].flatMap((distance, side) => {
      const to = (member + distance) % rankOf.length;
      const [sends, receives] = [rankOf[member] === rank, rankOf[to] === rank];
      if (sends === receives) return [];
      const memory = sends ? { source: fields[member % 2].own } : { target: fields[to % 2].halo[side] };
      // Messages to the next member have all numbers, the others 63.
      const leading = side === 1 ? { leading: () => 8 * 63 } : {};
      return [{ from: member, to, number: 2 * member + side, bytes: 512, name: "u", ...memory, ...leading }];
    }),
  );
  transport.post(messages);
  transport.test();
  await transport.arrived(`step ${step}`);
  const [first, last] = fields;
  same(first.halo[0][63], 1000 * step + ((2 * rank + rankOf.length - 1) % rankOf.length), "halo from below");
  same(last.halo[1][63], 0, "what is not sent");
  same(last.halo[1][0], 1000 * step + ((2 * rank + 2) % rankOf.length), "halo from above");
}
const message = { from: 2 * rank, to: 2 * rank, number: 0, bytes: 8, name: "u", source: new Float64Array(1) };
assert.throws(() => transport.post([message]), /both ends/);
assert.throws(() => transport.post([{ ...message, to: 99 }]), /not in the set/);
if (count > 1) {
  assert.throws(
    () => transport.post([{ ...message, from: 2 * after, to: 2 * before }]),
    count === 2 ? /memory|both ends|no end/ : /no end|needs memory/,
  );
  assert.throws(() => transport.post([{ ...message, to: 2 * after, bytes: 16 }]), /16 bytes, and its memory 8/);
  assert.throws(() => transport.post([{ ...message, to: 2 * after, leading: () => 9 }]), /is to have 9 bytes of 8 at most/);
}

await ranks.barrier();
const everyone = await ranks.exchange(checks, "checks");
if (rank === 0) console.log(JSON.stringify({ count, checks: everyone }));
