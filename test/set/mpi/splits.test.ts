import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { readState, writeState } from "../../../src/io/index.js";
import { digests, eachLauncher, launch, program } from "./launchers.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-splits-"));
after(() => rmSync(folder, { recursive: true }));

/** Words after the devices: the split, the level of overlap, iterations, files named after a run, and the checkpoint that it goes on from. */
const words = (split: string, occ: string, name: string, iterations: number, from?: string): string[] => [
  split,
  occ,
  `${iterations}`,
  join(folder, `${name}.ckpt`),
  join(folder, `${name}.vti`),
  ...(from === undefined ? [] : [join(folder, `${from}.ckpt`)]),
];

const alone = (spec: string, rest: readonly string[]): Record<string, unknown> =>
  digests(spawnSync(process.execPath, [program("splits"), spec, ...rest], { encoding: "utf8" }));

const known = new Map<number, Record<string, unknown>>();
function onOneMember(iterations: number): Record<string, unknown> {
  const found = known.get(iterations) ?? alone("js", words("z", "none", `one ${iterations}`, iterations));
  known.set(iterations, found);
  return found;
}

it("members of one process that are cut along y, and y and z, leave the bytes of one member", () => {
  assert.deepEqual(alone("wasm*3", words("y", "two-way", "three", 4)), onOneMember(4));
  assert.deepEqual(alone("js*4", words("yz", "standard", "four", 4)), onOneMember(4));
});

/** Writes a checkpoint of one process with the particles of its species in reverse order. */
async function turnRound(from: string, to: string): Promise<void> {
  const { head, arrays } = await readState(join(folder, `${from}.ckpt`), "isoform checkpoint 1");
  const { parts } = head as { parts: { kind: string; arrays: number }[] };
  const species = parts.findIndex(({ kind }) => kind === "species");
  const first = parts.slice(0, species).reduce((sum, part) => sum + part.arrays, 0);
  const columns = arrays.slice(first, first + parts[species].arrays);
  // Names have one component.
  const count = Math.min(...columns.map(({ length }) => length));
  const turned = arrays.map((values) => {
    if (!columns.includes(values)) return values;
    const components = values.length / count;
    return values.map((_, at) => values[(count - 1 - Math.floor(at / components)) * components + (at % components)]);
  });
  await writeState(join(folder, `${to}.ckpt`), "isoform checkpoint 1", { head, arrays: turned });
}

eachLauncher((launcher) => {
  it("ranks that are cut along y, and y and z, leave the bytes of one process, and checkpoints go on with another cut", () => {
    const on = (count: number, spec: string, rest: readonly string[], env?: NodeJS.ProcessEnv): Record<string, unknown> =>
      digests(launch(launcher, count, [program("splits"), spec, ...rest], env));
    assert.deepEqual(on(2, "mpi:js", words("y", "standard", "two", 2)), onOneMember(2));
    assert.deepEqual(on(4, "mpi:js", words("yz", "extended", "ranks", 4)), onOneMember(4));
    assert.deepEqual(on(3, "mpi:js*2", words("yz", "two-way", "six", 4)), onOneMember(4));
    assert.deepEqual(on(2, "mpi:js*2", words("yz", "standard", "carried", 2), { STAND_IN: "1" }), onOneMember(2));
    const later = alone("js", words("z", "none", "one later", 4, "one 2"));
    assert.deepEqual(on(2, "mpi:js*2", words("yz", "none", "later", 4, "two")), later);
  });

  it("a checkpoint of 2 x 2 ranks goes on with 3 that are cut along z, then in one process; a damaged piece is refused by name, and so are particles in another order", async () => {
    const on = (count: number, rest: readonly string[]) => launch(launcher, count, [program("splits"), "mpi:js", ...rest]);
    const name = launcher.name.replace(/\W/g, "");
    assert.deepEqual(digests(on(4, words("yz", "standard", `${name} square`, 2))), onOneMember(2));
    const second = alone("js", words("z", "none", "one second", 1, "one 2"));
    assert.deepEqual(digests(on(3, words("z", "standard", `${name} slabs`, 1, `${name} square`))), second);
    const third = alone("js", words("z", "none", "one third", 1, "one second"));
    assert.deepEqual(alone("js", words("z", "none", `${name} alone`, 1, `${name} slabs`)), third);

    await turnRound("one 2", "turned");
    const lost = on(4, words("yz", "standard", `${name} lost`, 1, "turned"));
    assert.notEqual(lost.status, 0);
    assert.match(
      lost.stderr,
      /\d+ particles are in the checkpoint, and ranks have found \d+: they do not stand in the order of their cells/,
    );

    const [pieces] = readdirSync(folder).filter((each) => each.startsWith(`${name} square.ckpt.`));
    const piece = join(folder, pieces, "r00002");
    const bytes = readFileSync(piece);
    bytes[bytes.length >> 1] ^= 1;
    writeFileSync(piece, bytes);
    const refused = on(3, words("y", "standard", `${name} refused`, 1, `${name} square`));
    assert.notEqual(refused.status, 0);
    assert.match(refused.stderr, /r00002 is damaged, or belongs to another checkpoint: bytes 0 to \d+ have another checksum/);
  });
});
