import { readFileSync } from "node:fs";
import { IsoformError } from "../../base/errors.js";

/** Languages of hand-written programs. */
export type HandWrittenLanguage = "c" | "cuda";

/** Their name in an assessment. */
export const HANDWRITTEN = "handwritten";

/** There is no program in a language, or no compiler of it. */
export class NoProgramError extends IsoformError {
  override name = "NoProgramError";
}

const SUFFIX: Readonly<Record<HandWrittenLanguage, string>> = { c: "c", cuda: "cu" };
const FOLDER = new URL("../../../../bench/baselines/assessed/", import.meta.url);
const OWN_INCLUDE = /^#include "(.+)"$/gm;

/** Texts of a program's own files, by their paths in `bench/baselines`, in the order in which they are first included. */
export function filesOf(program: string, language: HandWrittenLanguage): Map<string, string> {
  const files = new Map<string, string>();
  const read = (url: URL): void => {
    const path = url.href.slice(new URL("..", FOLDER).href.length);
    if (files.has(path)) return;
    const text = readFileSync(url, "utf8");
    files.set(path, text);
    for (const [, included] of text.matchAll(OWN_INCLUDE)) read(new URL(included, url));
  };
  read(new URL(`${program}.${SUFFIX[language]}`, FOLDER));
  return files;
}

/** A program's whole text, with the files that it includes in their places. Throws NoProgramError if there is none in that language. */
export function sourceOf(program: string, language: HandWrittenLanguage): string {
  const once = new Set<string>();
  const read = (url: URL): string => {
    if (once.has(url.href)) return "";
    once.add(url.href);
    return readFileSync(url, "utf8").replace(OWN_INCLUDE, (_, path: string) => read(new URL(path, url)));
  };
  try {
    return read(new URL(`${program}.${SUFFIX[language]}`, FOLDER));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new NoProgramError(`there is no hand-written program for ${program} in ${language === "c" ? "C" : "CUDA"}`);
  }
}
