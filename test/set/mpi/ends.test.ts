import assert from "node:assert/strict";
import { it } from "node:test";
import { eachLauncher, launch, program, type Ended } from "./launchers.js";

/** Lines that isoform or Node has written, not the launcher. */
const told = ({ stderr }: Ended, about: RegExp): string[] => stderr.split("\n").filter((line) => about.test(line));

/** Statuses of launchers besides the asked one: MPICH may tell the signal by which a rank ended. */
const SIGNALLED = [9, 14, 15];

/** Ways of ending all ranks, which would wait for ten minutes otherwise, because of one: the status, and the message of that rank. */
const BY_ONE: readonly (readonly [way: string, status: number, message: RegExp])[] = [
  ["throw", 1, /^isoform: rank 1 of 3 on \S+: Error: the cat is on the keyboard$/],
  ["throw-late", 1, /^isoform: rank 1 of 3 on \S+: Error: the cat is on the keyboard$/],
  ["exit", 3, /^isoform: rank 1 of 3 on \S+: it exited with status 3, which ends all ranks$/],
  ["patience", 1, /^isoform: rank 0 of 3 on \S+: waited 1 s for "u" from 1 and 2 in skeleton "cg", iteration 12$/],
  ["barrier", 1, /^isoform: rank 0 of 3 on \S+: waited 1 s for a barrier of all ranks$/],
  ["short", 1, /^isoform: rank 0 of 3 on \S+: IsoformError: 32 bytes of "u" came from rank 1, and 64 were expected: /],
  ["long", 1, /^isoform: rank 0 of 3 on \S+: IsoformError: .*trunc/i],
];

/** Errors that each rank throws for itself. Rank 0 tells of them, unless it comes to them half a second after another one. */
const BY_EACH: readonly (readonly [way: string, message: RegExp])[] = [
  ["other-member", /^isoform: rank \d of 3 on \S+: DeviceError: device "js": member \d belongs to rank \d \(use a member of set.locals\)$/],
  [
    "nested",
    /^isoform: rank \d of 3 on \S+: outer would wait for ever for a value that itself asks all ranks for something: await the value, /,
  ],
  ["submit", /^isoform: rank \d of 3 on \S+: LaunchError: skeleton "scaling" is submitted while another call runs /],
];

/** Ways of ending that all ranks agree on: status 2, told once. */
const BY_ALL: readonly (readonly [way: string, message: RegExp])[] = [
  ["auto", /DeviceError: device "mpi:js": a level of overlap that is measured, occ "auto", cannot span 3 processes yet /],
  ["plans", /IsoformError: rank 2 differs from rank 0 in the plan of "scale": /],
  ["cells", /IsoformError: ranks 1, 2 differ from rank 0 in a grid of \[8,8,6\] cells: /],
  ["container", /IsoformError: ranks 1, 2 differ from rank 0 in container "scale": /],
  ["iterations", /IsoformError: ranks 1, 2 differ from rank 0 in the iterations and options of a run of skeleton "scaling": /],
  ["scalar", /IsoformError: rank 1 differs from rank 0 in the value of scalar "dt": /],
  ["axis-array", /IsoformError: rank 2 differs from rank 0 in the values of an array along z: /],
  ["order", /IsoformError: rank 0 has come to component 0 of cell \[1,1,2\] of "u", and rank 1 to component 0 of cell \[1,1,3\] of "u": /],
  ["end", /IsoformError: rank 0 has come to planes 0 to 6 of "u", and rank 1 to the end of the program: /],
  ["first-end", /^isoform: rank 0 has come to the end of the program, and rank 1 to a barrier: /],
  ["file", /IsoformError: rank 0 of 3: cannot write no such folder\/u: .*name a file in a folder that all ranks see/],
  ["first", /IsoformError: rank 0 of 3: TypeError: the disk is full$/],
  ["other-devices", /IsoformError: the devices of rank 0, "js", and of rank 1, "wasm", differ: /],
  ["no-device", /IsoformError: rank 0 of 3: device "nothing": .* \(and on 2 other ranks: 1, 2\)$/],
];

eachLauncher((launcher) => {
  for (const [way, status, message] of BY_ONE)
    it(`one rank ends all: ${way}`, () => {
      const ended = launch(launcher, 3, [program("ends"), way]);
      assert.equal(told(ended, message).length, 1, ended.stderr);
      assert.ok([status, ...SIGNALLED].includes(ended.status!), `status ${ended.status}: ${ended.stderr}`);
    });
  for (const [way, message] of BY_EACH)
    it(`all ranks throw the same, and the first that tells ends all: ${way}`, () => {
      const ended = launch(launcher, 3, [program("ends"), way]);
      const lines = told(ended, /^isoform: rank \d of 3 /);
      assert.ok(lines.length >= 1 && lines.length <= 3, ended.stderr);
      for (const line of lines) assert.match(line, message);
      assert.ok([1, ...SIGNALLED].includes(ended.status!), `status ${ended.status}: ${ended.stderr}`);
    });
  for (const [way, message] of BY_ALL)
    it(`all ranks refuse alike: ${way}`, () => {
      const ended = launch(launcher, 3, [program("ends"), way]);
      assert.equal(ended.status, 2, ended.stderr);
      assert.equal(told(ended, message).length, 1, ended.stderr);
      assert.equal(told(ended, /^isoform: rank \d+ of /).length, 0, ended.stderr);
    });
});
