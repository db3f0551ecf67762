import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import koffi from "koffi";
import type { Layout, PushInputs } from "../apps/pic/push/push.js";
import { addressIn, Baselines } from "./baselines.js";
import { quantile } from "./interleave.js";

/* The operator H_p1 by hand. */

/** Values of a particle. */
const COLUMNS = 7;

/** What is by hand: gives the current of a call, and seconds. */
export interface ByHand {
  readonly name: string;
  readonly current: Float64Array;
  seconds(): number;
}

export const medianOf = (values: readonly number[]): number => quantile(values, 0.5);

/** From [x_3][x_2][x_1] to [x_1][x_2][x_3]. */
function turned(current: Float64Array, [n1, n2, n3]: readonly number[]): Float64Array {
  return Float64Array.from(current, (_, g) => current[Math.floor(g / (n2 * n3)) + n1 * ((Math.floor(g / n3) % n2) + n2 * (g % n3))]);
}

/** C/OpenMP: pic.c. */
export function inC({ particles: own, b2, b3, dt, charge, ratio, length, cells }: PushInputs, layout: Layout, calls: number): ByHand {
  const [fields, j] = [[b2, b3].map((field) => Float64Array.from(field)), new Float64Array(b2.length)];
  const address = (array: Float64Array): bigint => addressIn(array.buffer, array.byteOffset);
  const baselines = new Baselines(process.env.CC ?? "gcc");
  const bound = [dt, -dt].map((step) =>
    baselines.bind("pic", `push_${layout}`, [
      address(own),
      BigInt(own.length / COLUMNS),
      ...fields.map(address),
      address(j),
      step,
      charge,
      ratio,
      length,
      ...cells.map(BigInt),
    ]),
  );
  bound[0]();
  const current = turned(j, cells);
  bound[1]();
  return {
    name: "by hand",
    current,
    seconds: () => {
      const times: number[] = [];
      for (let n = 0; n < 2 + calls; n++) {
        const start = performance.now();
        bound[n % 2]();
        times.push((performance.now() - start) / 1e3);
      }
      return medianOf(times.slice(2));
    },
  };
}

/** CUDA: pic.cu; nothing where nvcc is not found. */
export function inCuda({ particles: own, b2, b3, dt, charge, ratio, length, cells }: PushInputs, layout: Layout, calls: number): ByHand[] {
  const library = join(mkdtempSync(join(tmpdir(), "isoform-bench-")), "pic.so");
  const source = fileURLToPath(new URL("../../bench/baselines/pic.cu", import.meta.url));
  const built = spawnSync("nvcc", ["-O3", "-arch=native", "-Xcompiler", "-fPIC", "-shared", "-o", library, source], { encoding: "utf8" });
  if (built.status !== 0) return [];
  const loaded = koffi.load(library);

  const types = [
    "void *",
    "int",
    "int64_t",
    "void *",
    "void *",
    "void *",
    "double",
    "double",
    "double",
    "double",
    "int",
    "int",
    "int",
    "int",
  ];
  return ["global", "shared"].map((where) => {
    const f = loaded.func(`pic_${where}`, "double", types);
    const j = new Float64Array(b2.length);
    const seconds = (): number =>
      f(
        own,
        layout === "aos" ? 1 : 0,
        own.length / COLUMNS,
        Float64Array.from(b2),
        Float64Array.from(b3),
        j,
        dt,
        charge,
        ratio,
        length,
        ...cells,
        calls,
      );
    seconds();
    return { name: `by hand, ${where}`, current: turned(j, cells), seconds };
  });
}
