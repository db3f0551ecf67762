import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFile, copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { columnOf, readTable } from "isoform/io";
import { main } from "../../../cli/isoform.js";

/* Systems from files on several devices, in checkpoints and with covariances. */

const folder = await mkdtemp(join(tmpdir(), "isoform-gsr-both-"));
after(() => rm(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);
const gsr = (...words: readonly string[]) => spawnSync(process.execPath, [main, "gsr", "--no-kernels", ...words], { encoding: "utf8" });

let epochs = "source_id,obs_time_tcb,centroid_pos_al,centroid_pos_error_al,parallax_factor_al,scan_pos_angle\n";
let stars = "source_id,ra,dec,phot_g_mean_mag,bp_rp\n";
for (let s = 0; s < 12; s++) {
  stars += `${10 + s},${29 * s},${11 * s - 60},${10 + s / 3},1\n`;
  for (let n = 0; n < 20 + s; n++)
    epochs += `${10 + s},${2_457_000 + 31.7 * n + s},${Math.sin(n * (s + 2))},${0.1 + 0.05 * (n % 3)},${Math.sin(1.3 * n + s)},${(67 * n + 20 * s) % 360}\n`;
}
await writeFile(at("e.csv"), epochs);
await writeFile(at("s.csv"), stars);

const SYSTEM = ["--epochs", at("e.csv"), "--stars", at("s.csv"), "--precision", "strict", "--form", "fused"];
const PROBES = ["--errors", "probes", "3", "--covariances", "stars"];

test("files on two members, in a checkpoint and gone on with, give the bits of one member, and of one run", async () => {
  const outputs = (name: string) => ["--out", at(`${name}.fits`), "--export", at(`${name}.npz`)];
  const one = gsr(...SYSTEM, ...PROBES, "--devices", "js", ...outputs("one"));
  assert.equal(one.status, 0, one.stderr);
  const two = gsr(...SYSTEM, ...PROBES, "--devices", "js*2", "--checkpoint", at("state"), "--every", "3", ...outputs("two"));
  assert.equal(two.status, 0, two.stderr);
  // The last checkpoint lies among the probes.
  const last = gsr("--restart", at("state"), "--devices", "js*3", ...outputs("last"));
  assert.equal(last.status, 0, last.stderr);
  for (const end of ["fits", "npz"])
    for (const name of ["two", "last"])
      assert.ok((await readFile(at(`one.${end}`))).equals(await readFile(at(`${name}.${end}`))), `${name}.${end}`);
  const table = await readTable(at("last.fits"), { table: "STARS" });
  const correlations = columnOf(table, "ra_dec_corr", "last.fits").values as Float64Array;
  assert.ok(correlations.length === 12 && correlations.every((value) => Math.abs(value) <= 1));
});

test("a restart refuses a file that has changed, and takes it under another name", async () => {
  await copyFile(at("e.csv"), at("moved.csv"));
  const made = gsr(...SYSTEM, "--errors", "probes", "2", "--devices", "js", "--checkpoint", at("kept"), "--every", "3");
  assert.equal(made.status, 0, made.stderr);
  await appendFile(at("e.csv"), "10,2457000,0,0.1,0.5,20\n");
  const refused = gsr("--restart", at("kept"), "--devices", "js");
  assert.equal(refused.status, 2, refused.stderr);
  assert.match(
    refused.stderr,
    /e\.csv is not the file that the checkpoint was made with \(SHA-256 [0-9a-f]{16}\.\.\., and now [0-9a-f]{16}\.\.\.\): put that one back, give --epochs its path, or start anew/,
  );
  const moved = gsr("--restart", at("kept"), "--devices", "js", "--epochs", at("moved.csv"));
  assert.equal(moved.status, 0, moved.stderr);
  const other = gsr("--restart", at("kept"), "--devices", "js", "--scan-law", at("e.csv"));
  assert.match(other.stderr, /the checkpoint was made without --scan-law: leave --scan-law out, or start anew/);
  await rm(at("e.csv"));
  assert.match(gsr("--restart", at("kept"), "--devices", "js").stderr, /e\.csv cannot be read/);
  const lost = gsr("--restart", at("kept"), "--devices", "js", "--epochs", at("moved.csv"), "--covariances", "stars");
  assert.match(lost.stderr, /--covariances go into the file of the solution: add --out/);
});

test("covariances of stars are refused where no table of stars can be written", () => {
  const { status, stderr } = gsr("--epochs", at("moved.csv"), ...PROBES, "--devices", "js", "--out", at("x.fits"));
  assert.equal(status, 2);
  assert.match(stderr, /--epochs alone has no places of stars: add --stars with a list, or write \.json/);
});
