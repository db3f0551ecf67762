import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { changedSince, digestOf, inputsOf, type Inputs } from "./inputs.js";

/** What is kept of the last green run of one test file with its settings. */
interface Green {
  readonly inputs: Inputs;
  readonly digest: string;
  /** Tests that passed. */
  readonly passed: number;
}

/** One run whose inputs are being recorded. */
export interface Recording {
  /** Variables that the process of the test file is given. */
  readonly env: Readonly<Record<string, string>>;
  /** Keeps the inputs of a run that was green, forgets those of one that was not. */
  end(green: boolean, passed: number): void;
}

/**
 * Last green runs, in `dist/test/.green`: a test file is unchanged while everything that it read then, the settings it ran with and the version
 * of Node are what they were. Inputs are recorded as the file runs, so there is no list of dependencies to keep.
 */
export class GreenRuns {
  /** @param settings Flags, and variables of the environment that tests ask for. */
  constructor(
    private readonly root: string,
    private readonly settings: readonly string[],
  ) {}

  private pathOf(name: string, devices: string): string {
    const settings = createHash("sha256")
      .update(JSON.stringify(this.ownSettings(devices)))
      .digest("hex")
      .slice(0, 12);
    return join(this.root, "dist/test/.green", `${name.replaceAll("/", "_")} ${settings}.json`);
  }

  private ownSettings(devices: string): string[] {
    return [...this.settings, devices];
  }

  /** How many tests passed when the file last ran with the inputs of today; undefined where it must run. */
  unchanged(name: string, devices: string): number | undefined {
    let green: Green;
    try {
      green = JSON.parse(readFileSync(this.pathOf(name, devices), "utf8")) as Green;
      return digestOf(green.inputs, this.root, this.ownSettings(devices)) === green.digest ? green.passed : undefined;
    } catch {
      // No run, or one whose record cannot be read: it runs.
      return undefined;
    }
  }

  /** Begins to record a run of a file. */
  record(name: string, devices: string): Recording {
    const folder = mkdtempSync(join(tmpdir(), "isoform-inputs-"));
    const file = join(folder, "inputs");
    writeFileSync(file, "");
    const begin = Date.now();
    const started = pathToFileURL(join(this.root, "dist/test/changed/record.js")).href;
    const path = this.pathOf(name, devices);
    rmSync(path, { force: true });
    return {
      env: { ISOFORM_INPUTS: file, NODE_OPTIONS: [process.env.NODE_OPTIONS, `--import ${started}`].filter(Boolean).join(" ") },
      end: (isGreen, passed) => {
        const notes = existsSync(file) ? readFileSync(file, "utf8") : undefined;
        rmSync(folder, { recursive: true });
        if (!isGreen || notes === undefined) return;
        const inputs = inputsOf(notes, this.root);
        if (changedSince(inputs, this.root, begin)) return;
        const green: Green = { inputs, digest: digestOf(inputs, this.root, this.ownSettings(devices)), passed };
        mkdirSync(join(path, ".."), { recursive: true });
        writeFileSync(path, JSON.stringify(green));
      },
    };
  }
}
