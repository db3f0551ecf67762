import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { fileURLToPath } from "node:url";

/* Each program of examples/ on two backends: a line that ends in `// -> text` prints that text. */
const sources = new URL("../../examples/", import.meta.url);
const programs = new URL("../examples/", import.meta.url);

const names = readdirSync(sources).filter((file) => file.endsWith(".ts"));

test("there are examples", () => assert.ok(names.length >= 20));

for (const name of names) {
  const promised = [...readFileSync(new URL(name, sources), "utf8").matchAll(/\/\/ -> (.*)$/gm)].map((match) => match[1].trim());
  for (const device of ["js", "wasm"])
    test(`examples/${name} prints what it says on ${device}`, () => {
      assert.ok(promised.length > 0, "no line says what it prints");
      const program = fileURLToPath(new URL(name.replace(/ts$/, "js"), programs));
      const { status, stdout, stderr } = spawnSync(process.execPath, [program, device], { encoding: "utf8", timeout: 300_000 });
      assert.equal(status, 0, stderr);
      assert.deepEqual(
        stdout
          .trimEnd()
          .split("\n")
          .map((line) => line.trim()),
        promised,
      );
    });
}
