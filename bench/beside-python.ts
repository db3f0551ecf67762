import { spawn } from "node:child_process";
import { once } from "node:events";
import { loadavg } from "node:os";
import { createInterface } from "node:readline";
import { quantile } from "./interleave.js";

/** What is measured beside a library of Python's. */
export interface BesidePython {
  readonly name: string;
  run(): Promise<void>;
}

/**
 * Measures by turns, and prints the median and the fastest tenth of each.
 * @param program Python that defines `run()`, with `n` given
 */
export async function besidePython(
  library: string,
  program: string,
  n: number,
  variants: readonly BesidePython[],
  rounds: number,
): Promise<void> {
  const peer = spawn("python3", ["-c", `import sys, time\nn = int(sys.argv[1])\n${program}${LOOP}`, String(n)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: peer.stdout })[Symbol.asyncIterator]();
  const answer = async (): Promise<string> => (await lines.next()).value ?? "";
  await answer();
  for (const { run } of variants) await run();
  const theirs: number[] = [];
  const ours = variants.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    peer.stdin.write("\n");
    theirs.push(Number(await answer()));
    for (const [v, { run }] of variants.entries()) {
      const begin = performance.now();
      await run();
      ours[v].push((performance.now() - begin) / 1000);
    }
  }
  peer.stdin.end();
  await once(peer, "close");
  console.log(`n ${n}, load ${loadavg()[0].toFixed(1)}`);
  const shown = (name: string, times: readonly number[]): void => {
    const [median, tenth] = [0.5, 0.1].map((q) => ({
      ms: (1000 * quantile(times, q)).toFixed(2),
      ratio: (quantile(theirs, q) / quantile(times, q)).toFixed(2),
    }));
    console.log(`${name}: median ${median.ms} ms, ${median.ratio} of ${library}'s speed; fastest tenth ${tenth.ms} ms, ${tenth.ratio}`);
  };
  shown(library, theirs);
  for (const [v, { name }] of variants.entries()) shown(name, ours[v]);
}

/** Prints the seconds of a run for each line that comes. */
const LOOP = `
run()
print("ready", flush=True)
for _ in sys.stdin:
    begin = time.perf_counter()
    run()
    print(time.perf_counter() - begin, flush=True)
`;
