import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { main } from "./isoform.js";

test("Ctrl-C ends a measurement at once and leaves no file", async () => {
  const directory = mkdtempSync(join(tmpdir(), "isoform-interrupt-"));
  const words = [
    main,
    "assess",
    "stream",
    "--devices",
    "js",
    "--gib",
    "0.05",
    "--repeats",
    "100000",
    "--json",
    "out.json",
    "--report",
    "out.html",
  ];
  const child = spawn(process.execPath, words, { cwd: directory, stdio: ["ignore", "ignore", "pipe"] });
  try {
    const started = await Promise.race([once(child.stderr, "data"), once(child, "exit")]);
    assert.match(String(started[0]), /(measuring js|stream): \d+ of/);
    child.kill("SIGINT");
    const [code, signal] = await once(child, "exit");
    assert.ok(signal === "SIGINT" || code === 130, `code ${code}, signal ${signal}`);
    assert.deepEqual(readdirSync(directory), []);
  } finally {
    child.kill("SIGKILL");
    rmSync(directory, { recursive: true });
  }
});
