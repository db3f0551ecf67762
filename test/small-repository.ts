import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const RUNNER = [
  ...["run", "jobs", "tiers", "turns", "devices"].map((name) => `dist/test/${name}.js`),
  ...["append", "green", "hooks", "inputs", "record"].map((name) => `dist/test/changed/${name}.js`),
  "test/quick/v8.cjs",
];

/** What a run has said, and its exit status. */
export interface Said {
  readonly status: number | null;
  readonly stdout: string;
}

/** A folder with this runner and test files of one's own, which tests of the runner run. */
export class SmallRepository {
  readonly root = mkdtempSync(join(tmpdir(), "isoform-runner-"));

  /** Takes texts of test files by their names, and of other files by their paths. */
  constructor(tests: Readonly<Record<string, string>>, files: Readonly<Record<string, string>> = {}) {
    this.write("package.json", '{"type":"module"}');
    for (const [path, text] of Object.entries(files)) this.write(path, text);
    for (const [name, text] of Object.entries(tests)) {
      this.write(`test/${name}.test.ts`, "");
      this.write(`dist/test/${name}.test.js`, `import { test } from "node:test"; test("it", async () => {});\n${text}`);
    }
    for (const path of RUNNER) {
      const to = join(this.root, path);
      mkdirSync(dirname(to), { recursive: true });
      copyFileSync(join(repository, path), to);
    }
  }

  private write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  /** Runs the runner with these words; `env` is set beside what is set already. */
  run(words: readonly string[], env: Readonly<Record<string, string>> = {}): Said {
    // What runs this process has a recorder of its own.
    const own = {
      ...process.env,
      NODE_OPTIONS: "",
      ISOFORM_INPUTS: undefined,
      ISOFORM_TEST_DEVICES: undefined,
      NODE_TEST_CONTEXT: undefined,
    };
    const args = [join(this.root, "dist/test/run.js"), "--jobs=2", ...words];
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8", env: { ...own, ...env } });
    return { status, stdout };
  }

  remove(): void {
    rmSync(this.root, { recursive: true });
  }
}

/** Names of the files that a run ran, in the order in which they ended; a file that ran twice is there twice. */
export const namesIn = (stdout: string): string[] => [...stdout.matchAll(/^(?:ok|FAIL) .* s {2}(\w+) {2}/gm)].map(([, name]) => name);
