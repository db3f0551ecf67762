import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { backend } from "../../../src/device/native/native.js";
import { agreesWithJs } from "../against-js.js";

const { missing } = await backend.probe();

/** Each kernel is a run of the compiler; ISOFORM_RUNS=1000 takes a minute or two. */
const RUNS = Number(process.env.ISOFORM_RUNS ?? 60);
const SEED = Number(process.env.ISOFORM_SEED ?? 11);

test("random kernels have the bits of js", { skip: missing && `${missing.reason}; ${missing.remedy}` }, async () => {
  const cache = process.env.XDG_CACHE_HOME;
  const folder = (process.env.XDG_CACHE_HOME = mkdtempSync(join(tmpdir(), "isoform-test-")));
  try {
    await agreesWithJs("native", SEED, RUNS);
  } finally {
    if (cache === undefined) delete process.env.XDG_CACHE_HOME;
    else process.env.XDG_CACHE_HOME = cache;
    rmSync(folder, { recursive: true });
  }
});
