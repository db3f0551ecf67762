import { deepEqual, equal, ok } from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { CHANGES, type Change } from "./changes.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "isoform-changes-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A copy of the compiled library, by links, with one module changed. */
function changed(name: string, change?: Change): string {
  const to = join(folder, name);
  for (const part of ["dist/src", "dist/test/gradient"])
    for (const file of readdirSync(join(root, part), { recursive: true, encoding: "utf8" })) {
      if (!file.endsWith(".js")) continue;
      const path = join(to, part, file);
      mkdirSync(dirname(path), { recursive: true });
      linkSync(join(root, part, file), path);
    }
  writeFileSync(join(to, "package.json"), readFileSync(join(root, "package.json")));
  symlinkSync(join(root, "node_modules"), join(to, "node_modules"));
  if (change) {
    const [module, text, replacement] = change;
    const path = join(to, "dist/src/ir/gradient", `${module}.js`);
    const parts = readFileSync(path, "utf8").split(text);
    equal(parts.length, 2, `${module} has the text once: ${text}`);
    unlinkSync(path);
    writeFileSync(path, parts.join(replacement));
  }
  return to;
}

const judge = (at: string): string => join(at, "dist/test/gradient/judge.js");

test("single changes to rules, order, clearing and counting are seen", async () => {
  const plain = spawnSync(process.execPath, [judge(changed("plain"))], { encoding: "utf8" });
  equal(plain.status, 0, plain.stdout + plain.stderr);
  ok(CHANGES.length >= 60);
  const unseen: string[] = [];
  const left = [...CHANGES.entries()];
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) {
      const [n, change] = next;
      const at = changed(`${n}`, change);
      const failed = await new Promise<boolean>((done) =>
        execFile(process.execPath, [judge(at)], { timeout: 60_000 }, (error) => done(error !== null)),
      );
      if (!failed) unseen.push(change.join(": "));
      rmSync(at, { recursive: true });
    }
  };
  await Promise.all([work(), work()]);
  deepEqual(unseen, []);
});
