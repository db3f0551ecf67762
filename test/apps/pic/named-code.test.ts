import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createHash } from "node:crypto";
import { isoform } from "../../cli/isoform.js";

/* Files of data name no code: modules are imported where the command line names them. */

const folder = mkdtempSync(join(tmpdir(), "isoform-pic-code-"));
after(() => rmSync(folder, { recursive: true }));
const file = (name: string): string => join(folder, name);

const SMALL = ["--devices", "js", "--particles", "512", "--precision", "strict", "--dt", "0.1", "--every", "1"];
/** Tells that it was imported. */
const MODULE = `import { writeFileSync } from "node:fs";
writeFileSync(${JSON.stringify(file("imported"))}, "");
export default { density: (x, v) => Math.exp(-v[0] * v[0] / 2), velocities: [[-5, 5]] };
`;
writeFileSync(file("evil.mjs"), MODULE);

const pic = (...words: string[]) => isoform(["pic", "landau", "--devices", "js", ...words]);

function refused(words: readonly string[], message: RegExp): void {
  const { status, stderr } = pic(...words);
  assert.equal(status, 2, stderr);
  assert.match(stderr, message);
  assert.equal(existsSync(file("imported")), false, "the module was imported");
}

/** The checkpoint with something else in its head, and the checksum of that. */
function forged(path: string, change: (options: Record<string, unknown>) => void): string {
  const whole = readFileSync(path);
  const line = whole.indexOf("\n") + 1;
  const length = Number(whole.subarray(14, line));
  const head = JSON.parse(whole.subarray(line, line + length).toString()) as {
    head: { metadata: { options: Record<string, unknown> } };
  };
  change(head.head.metadata.options);
  const text = Buffer.from(JSON.stringify(head));
  const first = Buffer.from(`${whole.subarray(0, 14).toString()}${String(text.length).padStart(12, "0")}\n`);
  const bytes = Buffer.concat([first, text, whole.subarray(line + length, -32)]);
  writeFileSync(file("forged"), Buffer.concat([bytes, createHash("sha256").update(bytes).digest()]));
  return file("forged");
}

test("a checkpoint that names a module does not have it imported", () => {
  const { status, stderr } = pic(...SMALL, "--time", "0.2", "--checkpoint", file("plain"));
  assert.equal(status, 0, stderr);
  const digest = createHash("sha256").update(MODULE).digest("hex");
  refused(
    ["--restart", forged(file("plain"), (options) => (options.distribution = file("evil.mjs"))), "--time", "0.4"],
    /options\.distribution: no file's name and digest, as checkpoints have them now/,
  );
  const named = forged(file("plain"), (options) => (options.distribution = { file: file("evil.mjs"), digest }));
  const again = pic("--restart", named, "--time", "0.4");
  assert.equal(again.status, 0, again.stderr);
  assert.equal(existsSync(file("imported")), false, "the module was imported");
});

test("a configuration that names a module is refused, one that names a table is read", () => {
  writeFileSync(file("evil.toml"), `distribution = "${file("evil.mjs")}"\n`);
  refused(
    [...SMALL, "--config", file("evil.toml")],
    /evil\.toml: distribution = ".*evil\.mjs" names a module, .* on the command line, as --distribution .*evil\.mjs/,
  );
  writeFileSync(file("flat.csv"), "v1,f\n-2,1\n2,1\n");
  writeFileSync(file("table.toml"), `distribution = "${file("flat.csv")}"\n`);
  const { status, stderr } = pic(...SMALL, "--time", "0.2", "--config", file("table.toml"));
  assert.equal(status, 0, stderr);
});

test("a run with a distribution goes on without its file, and refuses another one", () => {
  for (const [name, text, other] of [
    ["own.csv", "v1,f\n-2,1\n2,1\n", "v1,f\n-3,1\n3,1\n"],
    ["own.mjs", MODULE, `${MODULE}// `],
  ]) {
    writeFileSync(file(name), text);
    const state = file(`${name}.state`);
    const first = pic(...SMALL, "--time", "0.2", "--distribution", file(name), "--checkpoint", state);
    assert.equal(first.status, 0, first.stderr);
    rmSync(file("imported"), { force: true });
    const same = pic("--restart", state, "--time", "0.4", "--distribution", file(name));
    assert.equal(same.status, 0, same.stderr);
    writeFileSync(file(name), other);
    refused(
      ["--restart", state, "--time", "0.4", "--distribution", file(name)],
      /was made with another --distribution, then called ".*own\.\w+" \(SHA-256 [0-9a-f]{16}\.\.\.\): leave out --distribution, or start anew/,
    );
    rmSync(file(name));
    const without = pic("--restart", state, "--time", "0.4");
    assert.equal(without.status, 0, without.stderr);
    assert.equal(existsSync(file("imported")), false, "the module was imported");
  }
  refused(
    ["--restart", file("plain"), "--time", "0.4", "--distribution", file("flat.csv")],
    /was made without --distribution: leave out --distribution/,
  );
});
