import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, describe, it } from "node:test";
import { f64 } from "../../../src/index.js";
import { backend } from "../../../src/device/native/native.js";
import { dense } from "../../../src/domain/index.js";
import { devices } from "../../../src/set/index.js";
import { skeleton } from "../../../src/skeleton/index.js";

/* The kernels of an iteration are compiled side by side: with a compiler that says when it works, and takes its time. */

const { missing } = await backend.probe();
const top = mkdtempSync(join(tmpdir(), "isoform-together-"));
const log = join(top, "log");
const kept = { ...process.env };
const compiler = join(top, "slow-compiler");
after(() => {
  for (const name of ["CC", "XDG_CACHE_HOME"])
    if (kept[name] === undefined) delete process.env[name];
    else process.env[name] = kept[name];
  rmSync(top, { recursive: true });
});

/** Works of the compiler on kernels that the test names, in the order in which they began and ended. */
const works = (): string[] => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []);

/** Most of them at once. */
function atOnce(): number {
  let [now, most] = [0, 0];
  for (const line of works()) most = Math.max(most, (now += line.startsWith("begin") ? 1 : -1));
  return most;
}

/** A set of `members` and three containers, of which none can be fused with another; no cache has their kernels. */
async function made(members: number, factor: number) {
  const set = await devices(members === 1 ? "native" : `native*${members}`);
  const grid = dense(set, [12, 10, 8]);
  const [u, v] = ["u", "v"].map((name) => grid.field(name, f64));
  const first = grid.container("together1", { u, v, factor }, ({ u, v, factor }, c) => (v[c] = factor * (u.at(c, 1, 0, 0) + u[c])));
  const second = grid.container("together2", { u, v, factor }, ({ u, v, factor }, c) => (u[c] = factor * v.at(c, 0, 0, 1) - v[c]));
  const third = grid.container("together3", { u, v, factor }, ({ u, v, factor }, c) => (v[c] = u.at(c, 0, 1, 0) + factor * u[c]));
  u.fill((x, y, z) => x + 2 * y - z);
  v.fill(0);
  return { set, grid, u, v, sequence: [first, second, third], factor };
}

describe("kernels of an iteration", { skip: missing?.reason ?? false }, () => {
  beforeEach(() => {
    rmSync(log, { force: true });
    const work = `grep -q together "$f" && echo "begin" >> ${log}; sleep 0.3; ${kept.CC || "cc"} "$@"; s=$?; grep -q together "$f" && echo "end" >> ${log}; exit $s`;
    const script = `#!/bin/sh\ncase "$*" in *--version*) exec ${kept.CC || "cc"} "$@";; esac\nfor f in "$@"; do case $f in *kernel.c) break;; esac; done\n${work}\n`;
    writeFileSync(compiler, script);
    chmodSync(compiler, 0o755);
    Object.assign(process.env, { CC: compiler, XDG_CACHE_HOME: mkdtempSync(join(top, "cache-")) });
  });

  for (const members of [1, 2])
    it(`are compiled side by side on ${members} member${members === 1 ? "" : "s"}, and give what they give elsewhere`, async () => {
      const here = await made(members, 3);
      await skeleton(here.set, "together", here.sequence, { fuse: false, precision: "strict" }).run(2);
      assert.equal(works().length, 6, "three kernels, each once");
      assert.ok(atOnce() >= 2, works().join());
      const there = await made(members, 3);
      for (let n = 0; n < 2; n++) for (const container of there.sequence) await there.grid.run(container, { precision: "strict" });
      assert.deepEqual(await here.v.download(), await there.v.download());
      await here.set.close();
      await there.set.close();
    });

  it("and those of other containers are compiled before anything runs where that is asked for", async () => {
    const { set, grid, sequence, v } = await made(1, 4);
    const [first, ...others] = sequence;
    const plan = skeleton(set, "together", others, { fuse: false });
    plan.compile([first]);
    await grid.run(first);
    await plan.run(1);
    assert.equal(works().length, 6, "nothing is compiled twice");
    assert.ok(atOnce() >= 2, works().join());
    assert.ok((await v.download()).some((value) => value !== 0));
    await set.close();
  });

  it("end with the compiler's complaint", async () => {
    const { set, sequence } = await made(1, 5);
    writeFileSync(compiler, `#!/bin/sh\necho "out of order" >&2\nexit 1\n`);
    const plan = skeleton(set, "together", sequence, { fuse: false });
    plan.compile();
    await assert.rejects(plan.run(1), { name: "DeviceError", message: /could not compile kernel "together1[^]*out of order/ });
    await set.close();
  });
});
