import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { open } from "isoform";
import { Push, type Layout } from "../apps/pic/push/push.js";
import { commandLine, parseArgs } from "./command-line.js";
import { medianOf } from "./pic-by-hand.js";

/*
 * What more threads give the operator H_p1 of apps/pic on sorted particles. Processors of a virtual machine share their cores with whom nobody knows, so each
 * round also takes as many independent copies of the program as there are threads, all at once, each with one thread: no program gains more than they do.
 * Rounds where they gained 95 % of their number are counted apart, too; whether a round is one of them is asked of a time of its own, which the gain of the
 * threads has no part in.
 *   node dist/bench/pic-threads.js [--devices wasm,native] [--layouts soa,aos] [--threads 2] [--particles 2000000] [--rounds 20] [--json F]
 */

const { values: options } = parseArgs({
  options: {
    devices: { type: "string", default: "wasm,native" },
    layouts: { type: "string", default: "soa,aos" },
    threads: { type: "string", default: "2" },
    particles: { type: "string", default: "2000000" },
    rounds: { type: "string", default: "20" },
    calls: { type: "string", default: "6" },
    serve: { type: "string" },
    json: { type: "string" },
  },
});
const count = Number(options.threads);
const particles = Number(options.particles);

/** Copies that gain this share of their number have a core each. */
const UNDISTURBED = 0.95;

if (options.serve) await serve(options.serve);
else await main();

/** A process that runs the operator whenever it is told, and answers with nanoseconds a particle. */
async function serve(name: string): Promise<void> {
  const device = await open(name);
  const push = await Push.create(device, { deposit: "cells", layout: options.layouts as Layout, precision: "fast", particles, hot: false });
  await push.run(2);
  process.on("message", () => {
    void push.run(1 + Number(options.calls)).then((seconds) => process.send!((1e9 * medianOf(seconds.slice(1))) / particles));
  });
  process.send!("ready");
}

interface Round {
  /** Nanoseconds a particle: one thread, all threads, the slowest of the copies, and one thread again. */
  one: number;
  all: number;
  copies: number;
  oneAgain: number;
}

async function main(): Promise<void> {
  const results: object[] = [];
  for (const device of options.devices.split(","))
    for (const layout of options.layouts.split(",")) results.push(await measure(device, layout));
  if (!options.json) return;
  mkdirSync(dirname(options.json), { recursive: true });
  const host = { processor: cpus()[0].model, processors: cpus().length, node: process.version };
  writeFileSync(
    options.json,
    JSON.stringify({ command: commandLine("dist/bench/pic-threads.js"), host, particles, results }, undefined, 1) + "\n",
  );
}

async function measure(device: string, layout: string): Promise<object> {
  const copies = await Promise.all(Array.from({ length: count }, () => start(device, layout, 1)));
  const together = await start(device, layout, count);
  const rounds: Round[] = [];
  for (let round = 0; round < Number(options.rounds); round++) {
    const one = await take(copies[round % count]);
    const all = await take(together);
    const atOnce = Math.max(...(await Promise.all(copies.map(take))));
    rounds.push({ one, all, copies: atOnce, oneAgain: await take(copies[(round + 1) % count]) });
  }
  for (const server of [...copies, together]) server.kill();

  const undisturbed = rounds.filter(({ oneAgain, copies }) => oneAgain / copies >= UNDISTURBED);
  const summary = { device, layout, threads: count, ...summarise(rounds), undisturbed: summarise(undisturbed) };
  for (const [what, { rounds: n, one, all, gain, copies, ofCopies }] of Object.entries({ all: summary, undisturbed: summary.undisturbed }))
    if (n > 0)
      console.log(
        `${device.padEnd(6)} ${layout} ${what.padEnd(11)} ${String(n).padStart(3)} rounds: ${one.toFixed(1)} ns on one thread, ${all.toFixed(1)} on ${count}: ` +
          `${gain.toFixed(2)} times as fast; ${count} copies at once: ${copies.toFixed(2)}; ${ofCopies.toFixed(2)} of theirs`,
      );
  return { ...summary, samples: rounds };
}

/** Medians over rounds, of times and of what is gained in a round. */
function summarise(rounds: readonly Round[]) {
  const over = (of: (round: Round) => number): number => (rounds.length === 0 ? NaN : medianOf(rounds.map(of)));
  return {
    rounds: rounds.length,
    one: over(({ one }) => one),
    all: over(({ all }) => all),
    gain: over(({ one, all }) => one / all),
    copies: over(({ oneAgain, copies }) => (count * oneAgain) / copies),
    ofCopies: over(({ all, copies }) => copies / (count * all)),
  };
}

async function start(device: string, layout: string, threads: number): Promise<ChildProcess> {
  const env = { ...process.env, ISOFORM_THREADS: String(threads), OMP_NUM_THREADS: String(threads) };
  const words = ["--serve", device, "--layouts", layout, "--particles", String(particles), "--calls", options.calls];
  const server = fork(fileURLToPath(import.meta.url), words, { env });
  server.once("exit", (code) => {
    if (code) throw new Error(`a process on ${device} ended with ${code}`);
  });
  await answer(server);
  return server;
}

async function take(server: ChildProcess): Promise<number> {
  const answered = answer(server);
  server.send("run");
  return (await answered) as number;
}

async function answer(server: ChildProcess): Promise<unknown> {
  const [message] = await once(server, "message");
  return message;
}
