import { isLocal, isMessage, type DeviceSet } from "../../set/index.js";
import { messagesOf } from "../../set/exchange.js";
import type { StagedMessage } from "../../set/staging.js";
import type { Op } from "./op.js";

/** A piece of a program between messages: a wait for those that were begun before, operations of this process, and messages that then begin. */
export interface ProgramStretch {
  readonly waits: boolean;
  readonly ops: readonly Op[];
  /** By operation that sends; empty where none of its messages has an end here. */
  readonly posts: readonly (readonly StagedMessage[])[];
}

/**
 * Cuts a program where this process waits for messages. All processes have the same operations in the same order, and begin the messages of each at its
 * place in it; so none waits for a message that another one begins later than its own next wait.
 */
export function stretchesOf(set: DeviceSet, ops: readonly Op[]): ProgramStretch[] {
  if (!set.transport || set.carrier) return [{ waits: false, ops, posts: [] }];
  const parts: ProgramStretch[] = [];
  let part: { waits: boolean; ops: Op[]; posts: (readonly StagedMessage[])[] } = { waits: false, ops: [], posts: [] };
  /** Operations whose messages are under way. */
  const pending = new Set<Op>();
  const begin = (waits: boolean): void => {
    parts.push(part);
    part = { waits, ops: [], posts: [] };
    if (waits) pending.clear();
  };
  const lasts = new Map<string, Op>();
  let number = 0;
  for (const op of ops) {
    const stream = `${op.member} ${op.stream}`;
    const before = lasts.get(stream);
    lasts.set(stream, op);
    if (isLocal(set.members[op.member])) {
      if (op.waits.some((other) => pending.has(other)) || (before && pending.has(before))) begin(true);
      else if (part.posts.length > 0 && op.launches.length + op.copies.length > 0) begin(false);
      part.ops.push(op);
    }
    if (!op.copies.some((copy) => isMessage(set, copy))) continue;
    part.posts.push(messagesOf(set, op.copies, op.node.name, number));
    number += op.copies.length;
    pending.add(op);
  }
  if (pending.size > 0) begin(true);
  parts.push(part);
  return parts;
}
