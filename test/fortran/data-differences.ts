import { fortran } from "../../src/fortran/index.js";
import { f64, type Device } from "../../src/index.js";

type Run = ReturnType<ReturnType<typeof fortran>["routine"]>["run"];
export type Counts = Parameters<NonNullable<NonNullable<Parameters<Run>[2]>["transfers"]>>[0];

/** Copies of each of the routines that `randomData` writes, and their results: `a`, `b` and `seen`. */
export async function runData(device: Device, text: string, names: readonly string[]): Promise<{ counts: Counts; values: number[] }[]> {
  const code = fortran(text, { file: "a.f90" });
  const ran: { counts: Counts; values: number[] }[] = [];
  for (const name of names) {
    const [a, b] = [(n: number) => n + 1, (n: number) => 19 - n].map((value) =>
      device.from(
        f64,
        Float64Array.from({ length: 11 }, (_, n) => value(n)),
      ),
    );
    const seen = device.array(f64, 11);
    let counts: Counts | undefined;
    const args = { n: 11, h: 4, a, b, seen, kept: code.array(device, name, "kept") };
    await code.routine(name).run(device, args, { transfers: (found) => void (counts = found) });
    const values: number[] = [];
    for (const view of [a, b, seen]) values.push(...(await device.queue.read(view)));
    ran.push({ counts: counts!, values });
  }
  return ran;
}
