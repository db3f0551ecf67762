import { append } from "../../changed/append.js";

/*
 * Preloaded (`--import`) with `?file=...` in its address: appends the text of each function whose text a process asks for to that file, one JSON string a
 * line. Kernels are compiled from their text and never called, so that the engine's coverage does not show which tests use them.
 */
const file = new URL(import.meta.url).searchParams.get("file");
const seen = new Set<string>();
const own = Function.prototype.toString;

if (file !== null)
  Function.prototype.toString = function (this: unknown): string {
    const text = Reflect.apply(own, this, []);
    if (!seen.has(text)) append(file, `${JSON.stringify(text)}\n`);
    seen.add(text);
    return text;
  };

/** Flag of Node that records texts in `file`. */
export const recordTexts = (file: string): string => {
  const module = new URL(import.meta.url);
  module.search = new URLSearchParams({ file }).toString();
  return `--import ${module.href}`;
};
