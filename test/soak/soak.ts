import { setImmediate } from "node:timers/promises";
import { newRecord, type SoakRecord } from "./record.js";
import type { Subject, Trials } from "./subject.js";

export interface Soak {
  readonly subjects: readonly Subject[];
  readonly seed: number;
  /** The end, whatever is reached first. */
  readonly seconds: number;
  readonly trials: number;
  /** Told before each trial. */
  readonly begins: (task: string) => void;
  /** Told of each defect, and after each trial. */
  readonly found: (subject: string, seed: number, error: Error) => void;
  readonly goes: (record: SoakRecord) => void;
  /** True when it is to end. */
  readonly stopped: () => boolean;
}

interface Running {
  readonly subject: Subject;
  readonly trials: Trials;
  seconds: number;
  next: number;
}

/** Trials of all subjects in turn, each as often as its weight says, until the time is over. */
export async function soak({ subjects, seed, seconds, trials, begins, found, goes, stopped }: Soak): Promise<SoakRecord> {
  const record = newRecord(seed);
  const running: Running[] = [];
  const begin = performance.now();
  const now = (): number => (performance.now() - begin) / 1e3;
  for (const subject of subjects) {
    const reason = await subject.missing?.();
    if (reason !== undefined) record.missing[subject.name] = reason;
    else running.push({ subject, trials: await subject.open(), seconds: 0, next: seed });
  }
  try {
    for (;;) {
      const open = running.filter(({ next }) => next < seed + trials);
      if (open.length === 0 || now() > seconds || stopped()) break;
      // The one that has had the least of its share.
      const turn = open.reduce((a, b) => (b.seconds / b.subject.weight < a.seconds / a.subject.weight ? b : a));
      await step(turn);
      // Trials that wait for nothing would keep signals from being heard.
      await setImmediate();
      record.seconds = Math.round(now());
      goes(record);
    }
  } finally {
    for (const { trials: each } of running) await each.close();
  }
  record.seconds = Math.round(now());
  return record;

  async function step(turn: Running): Promise<void> {
    const { name } = turn.subject;
    const own = turn.next++;
    const from = now();
    begins(`${name}, seed ${own}`);
    try {
      for (const [kind, count] of Object.entries(await turn.trials.trial(own))) record.counts[kind] = (record.counts[kind] ?? 0) + count;
    } catch (error) {
      record.defects.push({ subject: name, seed: own, what: (error as Error).message.split("\n")[0].slice(0, 300) });
      found(name, own, error as Error);
    }
    record.trials[name] = (record.trials[name] ?? 0) + 1;
    turn.seconds += now() - from;
  }
}
