/* Copies that the directives of a routine ask for, counted while it runs with one memory, and places at which two memories would differ. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { fortran } from "../../src/fortran/index.js";
import { portCppSources } from "../../src/fortran/port/cpp/sources.js";
import { open, type Device } from "../../src/index.js";
import { runData, type Counts } from "./data-differences.js";
import { dataProgram, randomData } from "./random-data.js";
import { asHip, DATA_PROGRAMS } from "./data-programs.js";
import { needsGfortran } from "./gfortran.js";

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
    `subroutine s(n, u, r)\ninteger, intent(in) :: n\nreal(8) :: u(n)\nreal(8), intent(out) :: r\nreal(8) :: w(3, 3)\ninteger :: i\nr = 0\n${body}\nend subroutine\n`;
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
      /^a\.f90:\d+: u: the host may read old values, as the device's have not been copied since \(write `update self\(u\)` before\)$/,
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

  const over = (bounds: string, body: string): string => `!$acc parallel loop\ndo i = ${bounds}\n${body}\nend do\n`;
  const ONES = over("1, n", "u(i) = 1");
  const LISTED: readonly (readonly [what: string, body: string])[] = [
    ["one element of a part is old", `!$acc data copy(u)\n${ONES}!$acc update self(u(1:2))\nr = sum(u(1:3))\n!$acc end data`],
    [
      "every second element is written",
      `!$acc data create(u)\n${over("1, n, 2", "u(i) = 1")}${over("1, n - 1", "u(i) = u(i+1)")}!$acc end data`,
    ],
    [
      "elements are written by their values",
      `!$acc data create(u)\n${over("1, n", "if (i /= 3) u(i) = 1")}!$acc update self(u)\nr = u(3)\n!$acc end data`,
    ],
    ["elements have indices in data", `!$acc data copy(u)\nu(3) = 3\n${over("1, 1", "u(1) = u(int(u(1)) + 1)")}!$acc end data`],
    ["a turn reads what a later one writes", `!$acc data copy(u)\n${ONES}do i = 1, n - 1\nu(i) = 2\nr = u(i+1)\nend do\n!$acc end data`],
    [
      "a diagonal is written",
      `w = 0\n!$acc data create(w)\n${over("1, 3", "w(i, i) = 1")}!$acc update self(w)\nr = w(1, 2)\n!$acc end data`,
    ],
    ["a copy takes old values along", `!$acc data copy(u)\n${ONES}!$acc update device(u)\n!$acc update self(u)\nr = u(1)\n!$acc end data`],
    ["a print has old values", `!$acc data copy(u)\n${ONES}print *, u\n!$acc end data`],
    ["a loop's results do not come back", `${ONES.replace("loop", "loop create(u)")}r = u(2)`],
    [
      "an atomic update reads old values",
      `!$acc data copy(u)\nu(2) = 3\n!$acc parallel loop\ndo i = 1, n\n!$acc atomic update\nu(2) = u(2) + i\nend do\n!$acc end data`,
    ],
    [
      "an atomic update is not copied",
      `!$acc data copyin(u)\n!$acc parallel loop\ndo i = 1, n\n!$acc atomic update\nu(2) = u(2) + i\nend do\n!$acc end data\nr = u(2)`,
    ],
  ];
  for (const [what, body] of LISTED)
    it(`list a difference where ${what}`, async () => assert.equal((await run(body)).differences.length, 1));

  const ALIKE: readonly (readonly [what: string, body: string])[] = [
    ["only elements that were copied are read", `!$acc data copy(u)\n${ONES}!$acc update self(u(2:3))\nr = u(2) + u(3)\n!$acc end data`],
    ["other elements are read", `!$acc data copy(u)\n${over("3, n", "u(i) = 1")}r = sum(u(1:2))\n!$acc end data`],
    ["two colours are written", `!$acc data create(u)\n${over("1, n, 2", "u(i) = 1")}${over("2, n, 2", "u(i) = 2")}${LOOP}!$acc end data`],
    ["all elements are written before", `!$acc data copy(u)\n${ONES}u = 2\nr = u(1)\n!$acc end data`],
    ["an element is read after it was written", `!$acc data create(w)\n${over("1, 3", "w(i, 2) = 1\nw(i, 3) = w(i, 2)")}!$acc end data`],
    ["an array without values is created", `!$acc data create(w)\n${over("1, 3", "if (i > 1) w(i, 2) = 1\nu(i) = w(i, 2)")}!$acc end data`],
    ["the caller has put it on the device", `!$acc data present(u)\n${LOOP}!$acc end data`],
  ];
  for (const [what, body] of ALIKE) it(`list nothing where ${what}`, async () => assert.deepEqual((await run(body)).differences, []));

  it("list nothing for random routines that are right with two memories", async () => {
    for (const seed of [1, 2, 3]) {
      const { text, names } = randomData(seed, 12);
      const ran = await runData(device, text, names);
      assert.deepEqual(
        ran.flatMap(({ counts }) => counts.differences),
        [],
      );
    }
  });

  const OLD: readonly (readonly [what: string, body: string, message: RegExp])[] = [
    [
      "is assigned by the host",
      "!$acc data copyin(dt)\ndt = 2\nLOOP!$acc end data",
      /a\.f90:8:1: dt: the host assigns it .* line 9 takes the device's old value \(write `!\$acc update device\(dt\)` between the two/,
    ],
    [
      "is assigned for the next trip",
      "!$acc data copyin(dt)\ndo k = 1, 2\nLOOPdt = dt/2\nend do\n!$acc end data",
      /a\.f90:13:1: dt: the host assigns/,
    ],
    ["is assigned in a branch", "!$acc data copyin(dt)\nif (n > 2) dt = 2\nLOOP!$acc end data", /a\.f90:8:.*: dt: the host assigns/],
    [
      "is a result that the host reads",
      "!$acc data copy(dt)\nSUMr = dt\n!$acc end data",
      /dt: the device assigns it .* line 12 takes the host's old value .*update self\(dt\)/,
    ],
    [
      "is a result that a region gives up",
      "!$acc data copyin(dt)\nSUM!$acc end data\nr = dt",
      /dt: the device assigns it .* the region of line 7 ends with the host's old value/,
    ],
    [
      "is assigned by the host where a region copies the device's value over it",
      "!$acc data copy(dt)\nLOOPdt = 3\n!$acc end data\nr = dt",
      /dt: the host assigns it .* ends with the device's old value/,
    ],
    ["is entered, and a loop finds it", "!$acc enter data copyin(dt)\ndt = 2\nPRESENT!$acc exit data delete(dt)", /dt: the host assigns/],
    ["is in an object", "!$acc data copyin(p)\np%n = 2\nPART!$acc end data", /p%n: the host assigns/],
    ["is declared in a module", "g = 2\nGLOBAL", /g: the host assigns/],
  ];
  const KEPT: readonly (readonly [what: string, body: string])[] = [
    ["is updated", "!$acc data copyin(dt)\ndt = 2\n!$acc update device(dt)\nLOOP!$acc end data"],
    ["is updated in each trip", "!$acc data copyin(dt)\ndo k = 1, 2\n!$acc update device(dt)\nLOOPdt = dt/2\nend do\n!$acc end data"],
    ["is assigned before the region", "dt = 2\n!$acc data copyin(dt)\nLOOP!$acc end data"],
    ["is a result that is updated", "!$acc data copy(dt)\nSUM!$acc update self(dt)\nr = dt\n!$acc end data"],
    ["is not in the region's clauses", "!$acc data copy(u)\ndt = 2\nLOOP!$acc end data"],
    ["is private to a loop", "!$acc data copyin(dt)\ndt = 2\nOWN!$acc end data"],
    ["is updated by a procedure", "call setg\nGLOBAL"],
  ];
  const loop = (head: string, body: string): string => `!$acc parallel loop ${head}\ndo i = 1, n\n${body}\nend do\n`;
  const scalars = (body: string): string =>
    "module m; type t; integer :: n; end type; real(8) :: g\n!$acc declare create(g)\ncontains; subroutine s(n, u, r); integer, intent(in) :: n\n" +
    "real(8) :: u(n), dt; real(8), intent(out) :: r\ninteger :: i, k; type(t) :: p\nr = 0; dt = 1\n" +
    body
      .replace("LOOP", loop("", "u(i) = u(i)*dt"))
      .replace("SUM", loop("reduction(+: dt)", "dt = dt + u(i)"))
      .replace("PRESENT", loop("present(dt)", "u(i) = dt"))
      .replace("PART", loop("", "u(i) = p%n"))
      .replace("OWN", loop("private(dt)", "dt = i\nu(i) = dt"))
      .replace("GLOBAL", loop("", "u(i) = g")) +
    "\nend subroutine\nsubroutine setg\ng = 4\n!$acc update device(g)\nend subroutine\nend module\n";
  const ported = (text: string) => portCppSources([{ file: "a.f90", text }], { targets: ["hip"] });
  for (const [what, body, message] of OLD)
    it(`are refused with a scalar that ${what}`, () => {
      for (const make of [() => fortran(scalars(body), { file: "a.f90" }), () => ported(scalars(body))]) assert.throws(make, message);
    });
  for (const [what, body] of KEPT)
    it(`are accepted with a scalar that ${what}`, () => {
      assert.equal(fortran(scalars(body), { file: "a.f90" }).kernels.size, 1);
      assert.ok(ported(scalars(body)).length > 1);
    });

  it("of random routines are what a port to HIP copies", needsGfortran, async () => {
    for (const seed of [2]) {
      const { text, names } = randomData(seed, 12, false);
      const all = [0, 0, 0, 0];
      const ran = await runData(device, text, names);
      for (const { copiesToDevice, bytesToDevice, copiesFromDevice, bytesFromDevice } of ran.map(({ counts }) => counts))
        [copiesToDevice, bytesToDevice, copiesFromDevice, bytesFromDevice].forEach((count, n) => void (all[n] += count));
      const hip = asHip(text + dataProgram(names));
      assert.deepEqual(
        hip.output.trim().split(/\s+/).map(Number),
        ran.flatMap(({ values }) => values),
      );
      assert.deepEqual(hip.errors.match(/\d+/g)!.map(Number), all);
    }
  });
});
