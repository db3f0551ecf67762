/* Copies that the directives of a routine ask for, counted while it runs with one memory, and places at which two memories would differ. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { fortran } from "../../src/fortran/index.js";
import { f64, open, type Device } from "../../src/index.js";
import { dataProgram, randomData } from "./random-data.js";
import { asHip, DATA_PROGRAMS } from "./data-programs.js";
import { needsGfortran } from "./gfortran.js";

type Counts = Parameters<NonNullable<NonNullable<Parameters<ReturnType<ReturnType<typeof fortran>["routine"]>["run"]>[2]>["transfers"]>>[0];

/** A conjugate gradient of 100 iterations: `r` is looked at twice. */
const CG = DATA_PROGRAMS.CG.replace("program cg", "subroutine cg(x)").replace("end program", "end subroutine");

describe("transfers of routines", () => {
  let device: Device;
  before(async () => void (device = await open("js")));
  after(() => device.close());

  const counted = async (text: string, name: string, args: Record<string, unknown>): Promise<Counts> => {
    let found: Counts | undefined;
    await fortran(text, { file: "a.f90" })
      .routine(name)
      .run(device, args, { transfers: (counts) => void (found = counts) });
    return found!;
  };

  it("of a conjugate gradient are what the source copies", async () => {
    const x = fortran(CG).array(device, "cg", "x", {});
    assert.deepEqual(await counted(CG, "cg", { x }), {
      copiesToDevice: 3,
      bytesToDevice: 8 * (1600 + 40 + 40),
      copiesFromDevice: 3,
      bytesFromDevice: 8 * 3 * 40,
      differences: [],
    });
  });

  const routine = (body: string): string =>
    `subroutine s(n, u, r)\ninteger, intent(in) :: n\nreal(8) :: u(n)\nreal(8), intent(out) :: r\ninteger :: i\nr = 0\n${body}\nend subroutine\n`;
  const LOOP = "!$acc parallel loop\ndo i = 1, n\nu(i) = u(i) + 1\nend do\n";
  const run = (body: string): Promise<Counts> => {
    const text = routine(body);
    return counted(text, "s", { n: 4, u: fortran(text).array(device, "s", "u", { n: 4 }) });
  };

  it("of loops without a region are there and back", async () => {
    const { copiesToDevice, copiesFromDevice, differences } = await run(LOOP + LOOP + "r = u(1)");
    assert.deepEqual([copiesToDevice, copiesFromDevice, differences], [2, 2, []]);
  });

  it("count sections", async () => {
    const { bytesToDevice, bytesFromDevice } = await run(
      `!$acc data copyin(u)\n${LOOP}!$acc update self(u(2:3), u(n))\n!$acc end data\n!$acc data copy(u) if(n > 9)\n!$acc end data`,
    );
    assert.deepEqual([bytesToDevice, bytesFromDevice], [32, 24]);
  });

  const DIFFERENT: readonly (readonly [what: string, body: string, message: RegExp])[] = [
    [
      "the host reads before an update",
      `!$acc data copy(u)\n${LOOP}r = u(2)\n!$acc end data`,
      /^a\.f90:\d+: u: the host may read old values, as the device has written it since the last copy \(write `update self\(u\)` before\)$/,
    ],
    [
      "a loop reads what the host has written",
      `!$acc data copy(u)\nu(1) = 5\n${LOOP}!$acc end data`,
      /u: the device may read .*update device\(u\)/,
    ],
    ["results of a `copyin` array are read", `!$acc data copyin(u)\n${LOOP}!$acc end data\nr = u(2)`, /u: the host may read/],
    ["results of a loop's `copyin` array are read", `${LOOP.replace("loop", "loop copyin(u)")}r = u(2)`, /u: the host may read/],
    ["deleted values are copied again", `!$acc enter data copyin(u)\n${LOOP}!$acc exit data delete(u)\n${LOOP}`, /u: the device may read/],
  ];
  for (const [what, body, message] of DIFFERENT)
    it(`tell where ${what}`, async () => {
      const { differences } = await run(body);
      assert.equal(differences.length, 1);
      assert.match(differences[0], message);
    });

  it("of random routines are what a port to HIP copies", needsGfortran, async () => {
    for (const seed of [2]) {
      const { text, names } = randomData(seed, 12, false);
      const code = fortran(text, { file: "a.f90" });
      const all = [0, 0, 0, 0];
      const values: number[] = [];
      for (const name of names) {
        const a = device.from(
          f64,
          Float64Array.from({ length: 11 }, (_, n) => n + 1),
        );
        const b = device.from(
          f64,
          Float64Array.from({ length: 11 }, (_, n) => 19 - n),
        );
        const seen = device.array(f64, 11);
        let found: Counts | undefined;
        await code
          .routine(name)
          .run(
            device,
            { n: 11, h: 4, a, b, seen, kept: code.array(device, name, "kept") },
            { transfers: (counts) => void (found = counts) },
          );
        for (const view of [a, b, seen]) values.push(...(await device.queue.read(view)));
        const { copiesToDevice, bytesToDevice, copiesFromDevice, bytesFromDevice } = found!;
        [copiesToDevice, bytesToDevice, copiesFromDevice, bytesFromDevice].forEach((count, n) => void (all[n] += count));
      }
      const hip = asHip(text + dataProgram(names));
      assert.deepEqual(hip.output.trim().split(/\s+/).map(Number), values);
      assert.deepEqual(hip.errors.match(/\d+/g)!.map(Number), all);
    }
  });
});
