import { createHash } from "node:crypto";
import { hooks } from "../device/tools/hooks.js";
import { type Coverage, lineStretches } from "./divergence.js";
import { portOf } from "./ports/names.js";

type SourceFile = Coverage["files"][number];

/** A file whose lines are used, but for blank ones and comments of C. */
export function sourceFile(file: string, text: string): SourceFile {
  const code = text.replace(/\/\*[^]*?\*\//g, (comment) => comment.replace(/[^\n]/g, "")).replace(/\/\/.*$/gm, "");
  const used = code.split("\n").flatMap((line, n) => (line.trim() === "" ? [] : [n + 1]));
  return { file, id: createHash("sha256").update(text).digest("hex").slice(0, 16), lines: lineStretches(used) };
}

/** Files of a port's kernels, noted while they are launched. */
export class EmittedFiles {
  private readonly found = new Map<string, SourceFile>();

  /** @param device as in `--devices`; only ports have files */
  constructor(private readonly device: string) {}

  /** Notes the files of everything that the work launches. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    if (portOf(this.device) === undefined) return work();
    const detach = hooks.attach({
      endKernel: ({ launches }) => {
        for (const launch of launches) {
          const file = sourceFile(launch.kernel.name, launch.source());
          this.found.set(`${file.file} ${file.id}`, file);
        }
      },
    });
    try {
      return await work();
    } finally {
      detach();
    }
  }

  /** The files so far. */
  get files(): SourceFile[] {
    return [...this.found.values()];
  }
}
