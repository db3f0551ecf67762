import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { assessmentSchema } from "../../../src/portability/schema.js";
import { isoform } from "../../cli/isoform.js";
import { missing } from "../../emit/standalone/compiled.js";

test(
  "an assessment measures ports, tells how they were built, and lists one without its compiler as missing",
  { skip: missing("gcc", "g++") },
  () => {
    const folder = mkdtempSync(join(tmpdir(), "isoform-ports-"));
    try {
      const [json, html] = ["ports.json", "ports.html"].map((name) => join(folder, name));
      const options = ["--devices", "js", "--ports", "c,openacc,sycl", "--gib", "0.001", "--quick", "--no-handwritten"];
      const { status, stdout, stderr } = isoform(["assess", "stream", ...options, "--json", json, "--report", html], undefined, {
        ISOFORM_ACPP: "no-such-compiler",
      });
      assert.equal(status, 0, stderr);
      for (const application of ["isoform-js", "isoform-emitted-c", "isoform-emitted-openacc"])
        assert.match(stdout, new RegExp(`^${application} .* ok `, "m"));
      assert.match(stdout, /^isoform-emitted-sycl .*no compiler of SYCL was found .*ISOFORM_ACPP/m);
      assert.match(stdout, /^Lines of code, without blank ones and comments$/m);
      const { builds } = assessmentSchema.parse(JSON.parse(readFileSync(json, "utf8")));
      assert.deepEqual(
        builds?.map(({ port, precision, kernels }) => [port, precision, kernels]),
        [
          ["c", "fast", 6],
          ["openacc", "fast", 6],
        ],
      );
      const [c, openacc] = builds!;
      assert.match(c.command, /\bgcc .*-fopenmp .*-o KERNEL\.so KERNEL\.c -lm$/);
      assert.match(openacc.command, /^g\+\+ .*-fopenacc .*-o KERNEL\.so KERNEL\.cpp$/);
      assert.ok(c.source > 0 && c.source === openacc.source && c.lines.total > c.source && openacc.lines.data > c.lines.data);
      assert.match(readFileSync(html, "utf8"), /<summary>How it was built<\/summary>/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
