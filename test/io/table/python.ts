import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Environment of a Python that has astropy and SciPy: ISOFORM_ASTRONOMY is a folder that pip filled with --target. */
const env = { ...process.env, PYTHONPATH: [process.env.ISOFORM_ASTRONOMY, process.env.PYTHONPATH].filter(Boolean).join(":") };

/** Runs a program with the modules, warnings as errors, and returns what it prints. */
export async function python(program: string, ...words: readonly string[]): Promise<string> {
  const { stdout } = await run("python3", ["-W", "error", "-c", program, ...words], { env, maxBuffer: 64 << 20 });
  return stdout;
}

/** Says why Python cannot check files with a module; undefined where it can. */
export const pythonLacks = (module: string): Promise<string | undefined> =>
  run("python3", ["-c", `import ${module}`], { env }).then(
    () => undefined,
    () => `python3 has no ${module}: pip install --target FOLDER astropy scipy, and set ISOFORM_ASTRONOMY=FOLDER`,
  );
