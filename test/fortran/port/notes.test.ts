/* What ports tell of directives that they leave out, of conditions, and of the copies that they ask for. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FortranError } from "../../../src/fortran/errors.js";
import { portSources, settingsOf } from "../../../src/fortran/index.js";
import { portCppSources } from "../../../src/fortran/port/cpp/sources.js";
import { CPP_TARGETS, FORTRAN_TARGETS, type PortTarget } from "../../../src/fortran/port/targets.js";

const routine = (body: string): string => `subroutine s(n, a)\ninteger :: n, i\nreal(8) :: a(n)\n${body}\nend subroutine\n`;
const LOOP = "do i = 1, n\na(i) = a(i) + 1\nend do";

function ported(body: string, target: PortTarget) {
  const sources = [{ file: "a.f90", text: routine(body) }];
  const isCpp = (CPP_TARGETS as readonly string[]).includes(target);
  return isCpp ? portCppSources(sources, { targets: [target as "hip"] })[0] : portSources(sources, { targets: [target as "cpu"] })[0];
}
const notes = (body: string, target: PortTarget): string[] =>
  ported(body, target).notes.map(({ at, construct, note }) => `${at.line}: ${construct}: ${note}`);

describe("notes of ports", () => {
  const DEVICE = `!$acc set device_num(1)\n!$acc init\n!$acc enter data copyin(a) async(1)\n!$acc parallel loop present(a) async(1)\n${LOOP}\n!$acc wait\n!$acc exit data copyout(a)\n!$acc shutdown`;

  it("name what ports to a device leave out", () => {
    const left = [
      "4: acc set: left out: the default device is used",
      "5: acc init: left out: the default device is used",
      "6: async: left out: each construct waits until it is done",
      "7: async: left out: each construct waits until it is done",
      "11: acc wait: left out: each construct waits until it is done",
      "13: acc shutdown: left out: the default device is used",
    ];
    assert.deepEqual(notes(DEVICE, "hip"), left);
    const tofrom = "7: present: becomes `map(tofrom: …)`, which copies an array that is absent, where OpenACC ends the program";
    assert.deepEqual(notes(DEVICE, "openmp-target"), [...left.slice(0, 3), tofrom, ...left.slice(3)]);
    assert.deepEqual(notes(DEVICE, "cpu"), []);
  });

  it("name clauses of OpenMP by which constructs would not wait, or choose a device", () => {
    const body = `!$omp target data map(tofrom: a) device(1)\n!$omp target teams distribute parallel do device(1) nowait\n${LOOP}\n!$omp end target data`;
    assert.deepEqual(notes(body, "openmp-target"), [
      "4: device: left out: the default device is used",
      "5: device: left out: the default device is used",
      "5: nowait: left out: each construct waits until it is done",
    ]);
    const lines = ported(body, "openmp-target").text.split("\n");
    assert.ok(lines.some((line) => line.trim() === "!$omp target data map(tofrom:a)"));
    assert.doesNotMatch(lines.join("\n"), /device\(1\)|nowait/);
  });

  it("name calls of OpenACC that ports leave out; others are refused", () => {
    const call = `call acc_set_device_num(1, acc_device_default)\n!$acc parallel loop\n${LOOP}`;
    for (const target of [...FORTRAN_TARGETS, "hip"] as const) {
      assert.deepEqual(notes(call, target), ["4: acc_set_device_num: left out: a port has no runtime of OpenACC"]);
      assert.doesNotMatch(ported(call, target).text, /acc_/);
    }
    for (const statement of ["call acc_update_self(a)", "n = acc_get_num_devices(acc_device_default)"])
      for (const target of ["cpu", "hip"] as const)
        assert.throws(
          () => ported(`${statement}\n!$acc parallel loop\n${LOOP}`, target),
          (error) =>
            error instanceof FortranError &&
            /^a\.f90:4:\d+: acc_\w+: is a function of OpenACC's runtime, which a port does not have \(write directives/.test(error.message),
        );
  });
});

describe("notes on the order of loops", () => {
  const kernel = (call: string): string =>
    `module m\ncontains\nattributes(device) subroutine one(kind, v)\ninteger :: kind\nreal(8) :: v(2)\nif (kind == 1) v = 3\nend subroutine\n` +
    `attributes(global) subroutine k(n, m, a, kinds)\ninteger, value :: n, m\nreal(8) :: a(n, m), own(2), last\ninteger :: kinds(n), i, j\n` +
    `i = (blockidx%x-1)*blockdim%x + threadidx%x\nif (i > n) return\ndo j = 1, m\n${call}\nend do\nend subroutine\nend module\n`;
  const options = { targets: ["cpu"], settings: settingsOf({ k: { idx: ["j", "i"] } }, "port.toml") } as const;

  it("name local arrays that a call may leave unassigned", () => {
    const [{ notes: told }] = portSources([{ file: "a.f90", text: kernel("call one(kinds(i), own)\na(i, j) = own(1)") }], options);
    assert.deepEqual(
      told.map(({ construct, note }) => `${construct}: ${note}`),
      [
        "own: a call may leave it unassigned: an iteration of `j` then reads an undefined value, no longer the one of the previous iteration",
      ],
    );
  });

  it("are not for values that are certainly carried", () => {
    for (const [call, name] of [
      ["a(i, j) = own(1)\ncall one(kinds(i), own)", "own"],
      ["a(i, j) = last\nlast = j", "last"],
    ])
      assert.throws(
        () => portSources([{ file: "a.f90", text: kernel(call) }], options),
        new RegExp(`\`${name}\` is carried from one iteration of \`j\` to the next`),
      );
  });
});

describe("conditions of constructs", () => {
  const body = `!$acc data copy(a) if(n > 9)\n!$acc parallel loop if(n > 4)\n${LOOP}\n!$acc end data`;
  it("stay in OpenMP, and choose between the device's values and the host's in C++", () => {
    assert.match(ported(body, "openmp-target").text, /distribute parallel do .*map\(tofrom:a\) if\(target:n > 4\)/);
    const lines = ported(body, "hip").text.split("\n");
    const from = lines.findIndex((line) => line.trim() === "if (n > 4) then");
    const copies = lines.slice(from, from + 9).map((line) => /'(.*): a at/.exec(line)?.[1] ?? line.trim().split(/[( ]/)[0]);
    assert.deepEqual(copies, ["if", "launch copyin", "call", "launch copyout", "else", "host copyin", "call", "host copyout", "end"]);
  });
});

describe("transfers of ports", () => {
  const body = `!$acc data copy(a)\n!$acc update device(a(2:3))\n!$acc parallel loop\n${LOOP}\n!$acc end data`;
  const told = (target: PortTarget): string[] =>
    ported(body, target).transfers.map(({ at, array, transfer }) => `${at.line}: ${array}: ${transfer}`);

  it("are the clauses of OpenMP, and the calls of the runtime", () => {
    assert.deepEqual(told("openmp-target"), [
      "4: a: target data map(tofrom)",
      "5: a(2:3): target update to",
      "6: a: target teams distribute parallel do map(tofrom)",
    ]);
    assert.deepEqual(told("hip"), [
      "4: a: copyin",
      "5: a: update device",
      "6: a: launch copyin",
      "6: a: exit launch copyout",
      "4: a: exit copyout",
    ]);
    assert.deepEqual(told("openmp"), []);
  });
});
