import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, it } from "node:test";
import { main } from "../../cli/isoform.js";
import { eachLauncher, launch, program } from "./launchers.js";

const src = fileURLToPath(new URL("../../../src/", import.meta.url));

/** Prints the shared libraries of a process at its end. */
const WATCH = `data:text/javascript,${encodeURIComponent(
  `import { readFileSync } from "node:fs";
   process.on("exit", () => process.stderr.write("mapped: " + [...new Set(readFileSync("/proc/self/maps", "utf8").match(/[^/\\n]*(koffi|libmpi|libmpich|libnccl|ucp)[^/\\n]*$/gm))].join() + "\\n"));`,
)}`;

/** Libraries of koffi, MPI and NCCL that a process has loaded. */
function mapped(words: readonly string[]): string {
  const { status, stderr } = spawnSync(process.execPath, ["--import", WATCH, ...words], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return /^mapped: (.*)$/m.exec(stderr)![1];
}

describe("without mpi: neither koffi nor MPI is loaded", { skip: process.platform === "linux" ? false : "it needs /proc" }, () => {
  for (const module of ["index.js", "set/index.js", "skeleton/index.js", "domain/index.js"])
    it(`by an import of ${module}`, () => {
      assert.equal(mapped(["--input-type=module", "-e", `await import(${JSON.stringify(`${src}${module}`)})`]), "");
    });

  it("by isoform heat --devices wasm", () => {
    assert.equal(mapped([main, "heat", "--devices", "wasm", "--size", "8", "--steps", "2"]), "");
  });
});

eachLauncher((launcher) => {
  it("with mpi: both are", () => {
    const { stderr } = launch(launcher, 2, ["--import", WATCH, program("ends"), "auto"]);
    assert.match(stderr, /^mapped: .*koffi/m);
    assert.match(stderr, /^mapped: .*libmpi/m);
  });
});
