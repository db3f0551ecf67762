import { constants } from "node:fs";
import { access, lstat, readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { IsoformError } from "../base/errors.js";
import { removeStale } from "../io/whole-file.js";
import type { OutputFiles } from "../portability/application.js";

/*
 * Files that a command is going to write: each can be written, no two are one file, and none is a file that the command reads.
 */

/** The outputs and inputs of one command, and of the options that all commands have. */
export class Outputs {
  /** Label of the option that writes a file, by the file's identity. */
  private readonly written = new Map<string, string>();
  /** Label of the option that reads a file. */
  private readonly read = new Map<string, string>();
  /** Pairs of an output and an input that may be one file. */
  private readonly allowed = new Set<string>();

  /**
   * Notes files that will be written, and files that are read.
   * @param replaced for outputs that may be written over an input: that input's name
   * @throws IsoformError for a file that cannot be written, and for one that another option writes or reads, here or in an earlier call
   */
  async check(outputs: OutputFiles, inputs: OutputFiles = {}, replaced: Readonly<Record<string, string>> = {}): Promise<void> {
    for (const [output, input] of Object.entries(replaced)) this.allowed.add(`${labelOf(output)} ${labelOf(input)}`);
    for (const [reader, path] of listed(inputs)) {
      const file = await identityOf(path);
      if (file === undefined) continue;
      this.requireUnread(this.written.get(file), reader, path);
      this.read.set(file, reader);
    }
    for (const [option, path] of listed(outputs)) {
      await requireWritable(path);
      const file = await identityOf(path);
      if (file === undefined) continue;
      const other = this.written.get(file);
      if (other === option) throw new IsoformError(`${option} would write ${path} twice: give it a different file each time`);
      if (other !== undefined) throw new IsoformError(`${other} and ${option} would write the same file, ${path}: give each its own file`);
      this.requireUnread(option, this.read.get(file), path);
      this.written.set(file, option);
    }
  }

  private requireUnread(option: string | undefined, reader: string | undefined, path: string): void {
    if (option === undefined || reader === undefined || this.allowed.has(`${option} ${reader}`)) return;
    throw new IsoformError(`${option} would overwrite ${path}, which ${reader} reads: give it another file`);
  }
}

/** Name of an option, or of the arguments, in messages. */
const labelOf = (name: string): string =>
  name === "arguments" ? "the command" : `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

const listed = (files: OutputFiles): [label: string, path: string][] =>
  Object.entries(files).flatMap(([name, paths]) => [paths ?? []].flat().map((path): [string, string] => [labelOf(name), path]));

/** Most links that a path may go through. */
const MOST_LINKS = 40;

/** Names a file so that all paths to it give the same name, links included; undefined for pipes and devices, which several may write to. */
async function identityOf(path: string, links = 0): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found) return found.isFile() ? `${found.dev}:${found.ino}` : undefined;
  // A link may lead to a file that is not there yet.
  const isLink = (await lstat(path).catch(() => undefined))?.isSymbolicLink();
  if (isLink && links < MOST_LINKS) return identityOf(resolve(dirname(path), await readlink(path)), links + 1);
  const folder = dirname(resolve(path));
  return join(await realpath(folder).catch(() => folder), basename(path));
}

async function requireWritable(path: string): Promise<void> {
  const existing = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENAMETOOLONG") throw new IsoformError(`cannot write ${path.slice(0, 40)}...: its name is too long`);
  });
  if (existing?.isDirectory()) throw new IsoformError(`cannot write ${path}: it is a directory; name a file`);
  if (existing && !existing.isFile()) return;
  const directory = dirname(path);
  const isDirectory = (await stat(directory).catch(() => undefined))?.isDirectory();
  if (!isDirectory) throw new IsoformError(`cannot write ${path}: there is no directory ${directory}; make it first`);
  const mayWrite = await access(directory, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (!mayWrite) throw new IsoformError(`cannot write ${path}: you may not write to the directory ${directory}; choose another`);
  await removeStale(path);
}
