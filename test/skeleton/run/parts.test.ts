import assert from "node:assert/strict";
import { test } from "node:test";
import type { DeviceSet } from "../../../src/set/index.js";
import { RemoteMember } from "../../../src/set/member.js";
import type { Op } from "../../../src/skeleton/run/op.js";
import { stretchesOf } from "../../../src/skeleton/run/parts.js";

/** A set with a member of this process and two of others, whose messages need no memory here. */
const members = [{ index: 0, rank: 0 }, new RemoteMember(1, 1, "js"), new RemoteMember(2, 2, "js")];
const set = { members, transport: {} } as unknown as DeviceSet;

const op = (member: number, to?: number, waits: readonly Op[] = []): Op =>
  ({
    node: { name: "n" },
    member,
    stream: 0,
    launches: to === undefined ? [{}] : [],
    copies: to === undefined ? [] : [{ from: member, to }],
    waits,
    exchangesWith: [],
  }) as unknown as Op;

const shown = (ops: readonly Op[], of = set) =>
  stretchesOf(of, ops).map(({ waits, ops: own, posts }) => ({ waits, ops: own.map((each) => ops.indexOf(each)), posts: posts.length }));

test("programs without messages are one part, which waits for nothing", () => {
  const ops = [op(0), op(0)];
  assert.deepEqual(shown(ops), [{ waits: false, ops: [0, 1], posts: 0 }]);
  assert.deepEqual(shown(ops, { members } as unknown as DeviceSet), [{ waits: false, ops: [0, 1], posts: 0 }]);
  assert.deepEqual(shown([op(0), op(1, 2)], { ...set, carrier: {} } as unknown as DeviceSet), [{ waits: false, ops: [0, 1], posts: 0 }]);
});

test("programs are cut where this process waits for messages, or works on after they begin", () => {
  const sent = op(1, 2);
  const ops = [op(0), sent, op(0), op(0, undefined, [sent]), op(0)];
  assert.deepEqual(shown(ops), [
    { waits: false, ops: [0], posts: 1 },
    { waits: false, ops: [2], posts: 0 },
    { waits: true, ops: [3, 4], posts: 0 },
  ]);
});

test("messages under way are waited for at the end", () => {
  assert.deepEqual(shown([op(0), op(1, 2)]), [
    { waits: false, ops: [0], posts: 1 },
    { waits: true, ops: [], posts: 0 },
  ]);
});
