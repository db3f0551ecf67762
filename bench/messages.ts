import { writeFileSync } from "node:fs";
import { devices, type Message, type Transport } from "isoform/set";
import { commandLine, parseArgs } from "./command-line.js";

/*
 * Messages between two ranks through the host's memory: 8 bytes one way, and halos that go both ways at once. Run it by turns with pingpong of messages.c:
 *   mpirun -n 2 node dist/bench/messages.js [--bursts 40] [--json F]
 */

const { values: options } = parseArgs({ options: { bursts: { type: "string", default: "40" }, json: { type: "string" } } });
/** Messages of a burst, by bytes. */
const HALOS = [
  [65536, 400],
  [524288, 100],
  [4194304, 20],
] as const;

const set = await devices("mpi:js");
const { ranks, transport } = set;
if (ranks?.count !== 2) throw new Error("messages go between two ranks: mpirun -n 2");
const { rank } = ranks;
const other = 1 - rank;

const message = (from: number, number: number, memory: Uint8Array): Message => ({
  from,
  to: 1 - from,
  number,
  bytes: memory.length,
  name: "x",
  ...(from === rank ? { source: memory } : { target: memory }),
});

/** Posts messages and waits for them. */
function submit(by: Transport, messages: readonly Message[]): void {
  by.post(messages);
  by.waitNow("a burst");
}

/** Microseconds of a turn in each burst. */
async function bursts(turns: number, turn: () => void): Promise<number[]> {
  const found: number[] = [];
  for (let burst = 0; burst < Number(options.bursts); burst++) {
    await ranks!.barrier();
    const begin = performance.now();
    for (let n = 0; n < turns; n++) turn();
    found.push((1e3 * (performance.now() - begin)) / turns);
  }
  return found.toSorted((a, b) => a - b);
}

const rows: { readonly what: string; readonly quartile: number; readonly least: number }[] = [];
function note(what: string, times: readonly number[]): void {
  rows.push({ what, quartile: times[times.length >> 2], least: times[0] });
  if (rank === 0) console.log(`${what} ${times[times.length >> 2].toFixed(3)} least ${times[0].toFixed(3)}`);
}

const [ping, pong] = [0, 1].map((from) => [message(from, 0, new Uint8Array(8))]);
const oneWay = await bursts(2000, () => {
  submit(transport!, ping);
  submit(transport!, pong);
});
note(
  "8 B one way",
  oneWay.map((time) => time / 2),
);
for (const [bytes, turns] of HALOS) {
  const both = [message(rank, rank, new Uint8Array(bytes)), message(other, other, new Uint8Array(bytes))];
  note(`halos of ${bytes} B`, await bursts(turns, () => submit(transport!, both)));
}
if (options.json && rank === 0)
  writeFileSync(options.json, `${JSON.stringify({ command: commandLine("dist/bench/messages.js"), rows }, undefined, 1)}\n`);
await set.close();
