import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EmittedFile } from "../../../src/emit/standalone/index.js";
import { NOT_ASKED, tested } from "../../devices.js";

/** False, or why a test that needs these commands is skipped. */
export function missing(...commands: string[]): string | false {
  if (!commands.every(tested)) return NOT_ASKED;
  const absent = commands.filter((command) => spawnSync(command, ["--version"]).error !== undefined);
  return absent.length > 0 && `${absent.join(", ")} not installed`;
}

/** A folder with the files, gone after `use`. */
export async function inFolder<T>(files: readonly EmittedFile[], use: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "isoform-emit-"));
  try {
    for (const { name, text } of files) writeFileSync(join(folder, name), text);
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a command; throws with what it printed where it fails. */
export function run(folder: string, command: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}\n${error?.message ?? ""}${stdout}${stderr}`);
  return stdout;
}

/** The command that a file names as its compiler at its head, without the file and -c. */
export function buildFlags(text: string, compiler: string): string[] {
  const line = text.split("\n").find((l) => l.startsWith("//") && l.includes(`${compiler} -`))!;
  return line.slice(line.indexOf(`${compiler} -`) + compiler.length + 1, line.indexOf(" -c ")).split(" ");
}

/** Several files as one translation unit, which takes a compiler little longer than one of them. */
export function inNamespace(text: string): string {
  const lines = text.split("\n");
  const headers = lines.filter((line) => line.startsWith("#include"));
  const name = /(\w+)_launch\(/.exec(text)![1];
  const rest = lines.filter((line) => !line.startsWith("#include"));
  return [...headers, `namespace of_${name} {`, ...rest, "}", "#undef TRY"].join("\n");
}
