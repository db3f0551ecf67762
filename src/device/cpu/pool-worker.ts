import { workerShare, RegionRun } from "./pool-region.js";
import {
  AWAITED,
  Control,
  EPOCH,
  PROGRAM,
  RELEASED,
  SLICE_WORD,
  SLICES,
  SLEEPERS,
  TAKE_MESSAGES,
  WORKERS,
  loadPoolProgram,
  Patience,
  threadErrorText,
} from "./pool-control.js";
import type { Post, PoolProgram, PoolRun } from "./pool-control.js";

/* A worker of the pool: the same code as a Node worker thread and as a browser's Worker. */

let memory: WebAssembly.Memory | undefined;
let control: Control | undefined;
let rank = 0;
/** Number of the share that this thread does, and for a stand-in the pool whose other threads it waits for. */
let share = 0;
let standsIn: { readonly pool: Control | undefined } | undefined;
let epoch = 0;
const patience = new Patience();
const programs = new Map<number, PoolRun>();
const buffers: (SharedArrayBuffer | undefined)[] = [];

function take(post: Post): void {
  if (post.start) {
    memory = post.start.memory;
    control = new Control(post.start.control);
    rank = post.start.rank;
    const stand = post.start.standsIn;
    standsIn = stand && { pool: stand.pool && new Control(stand.pool) };
    share = stand ? 0 : rank;
    epoch = 0;
  }
  if (post.retire) {
    memory = control = undefined;
    programs.clear();
    buffers.length = 0;
  }
  if (post.memory) {
    memory = post.memory;
    programs.clear();
  }
  for (const [id, buffer] of post.buffers) buffers[id] = buffer;
  for (const id of post.released) programs.delete(id);
  for (const [id, program] of post.programs) {
    try {
      programs.set(id, program.kind === "region" ? walkOf(program, control!) : loadPoolProgram(program, memory, buffers));
    } catch (error) {
      programs.set(id, () => {
        throw error;
      });
    }
  }
}

/** This worker's way through a region of programs that it knows already. */
function walkOf({ stages }: Extract<PoolProgram, { kind: "region" }>, control: Control): PoolRun {
  const shares = stages.map((stage) => stage && workerShare(stage, programs.get(stage.program)!, rank));
  const fail = (stage: number, error: unknown): void => control.setError(rank, `${stages[stage]!.label}: ${threadErrorText(error)}`);
  const sleep = (released: number): void => void Atomics.wait(control.words, RELEASED, released);
  let regionRun: RegionRun | undefined;
  return (_args, _rank, team) => (regionRun ??= new RegionRun(control, team, shares, fail, sleep)).run();
}

/** Takes part in one region after the other, until it is told to look at its messages. */
function serve(control: Control, tell: (text: string) => void): void {
  const { words } = control;
  const isNew = (): boolean => Atomics.load(words, EPOCH) !== epoch;
  const sleep = (): void => {
    Atomics.add(words, SLEEPERS, 1);
    Atomics.wait(words, EPOCH, epoch);
    Atomics.sub(words, SLEEPERS, 1);
  };
  for (;;) {
    patience.wait(isNew, sleep);
    epoch = Atomics.load(words, EPOCH);
    const program = words[PROGRAM];
    if (program !== TAKE_MESSAGES && share < words[WORKERS]) participate(control, program, words[WORKERS]);
    if (program !== TAKE_MESSAGES && standsIn?.pool) waitFor(standsIn.pool);
    control.finish(rank, epoch);
    if (program === TAKE_MESSAGES) return;
    if (standsIn) tell("ended");
  }
}

/** Returns when the workers of a pool are through, as its calling thread would. */
function waitFor(pool: Control): void {
  const { words, workers } = pool;
  const running = Atomics.load(words, EPOCH);
  for (let behind = 1; (behind = pool.firstBehind(running, behind)) <= workers;) {
    const done = pool.done(behind);
    Atomics.store(words, AWAITED, behind);
    const finished = Atomics.load(words, done);
    if (finished !== running) Atomics.wait(words, done, finished);
  }
  Atomics.store(words, AWAITED, 0);
}

function participate(control: Control, program: number, workers: number): void {
  try {
    const { words } = control;
    programs.get(program)!(control.argument, words[SLICE_WORD] * workers + share, words[SLICES] * workers);
  } catch (error) {
    control.setError(rank, threadErrorText(error));
  }
}

function receive(post: Post, thread: number, tell: (text: string) => void): void {
  take(post);
  if (!control) return;
  if (post.start) {
    Atomics.store(control.words, control.thread(rank), thread);
    tell("ready");
  }
  serve(control, tell);
}

if (typeof process !== "undefined" && process.versions?.node) {
  const { parentPort } = process.getBuiltinModule("node:worker_threads");
  const { readlinkSync } = process.getBuiltinModule("node:fs");
  const thread = process.platform === "linux" ? Number(readlinkSync("/proc/thread-self").split("/").pop()) : 0;
  process.on("exit", () => {
    control?.leave(rank);
  });
  parentPort!.on("message", (post: Post) => receive(post, thread, (text) => parentPort!.postMessage(text)));
} else {
  globalThis.onmessage = (event: MessageEvent<Post>) => receive(event.data, 0, (text) => globalThis.postMessage(text));
}
