import { createHash, type Hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { deserialize, serialize } from "node:v8";
import { nameOf, recall, remember } from "./cache.js";
import { canonicalText } from "./canonical.js";

/** Folders of the library whose functions are memoised. Results depend on their code: another version finds none. */
const FOLDERS = ["ir", "kernel", "emit", "domain", "skeleton"];

/** Length of an input's text up to which working on it takes less time than a file. */
const SHORT = 20_000;

/** Results found or made in this process, as long as somebody has them. */
const known = new Map<string, WeakRef<object>>();

/** Prefix of results' names in inputs. */
const MARK = "result of ";
/** Results, and the objects in them, by what stands for them in inputs. */
const names = new WeakMap<object, string>();

/** Short form of data in an input, preferred to the data itself: the name of the memoised result that it is, or is a part of. */
export const named = (data: object): unknown => names.get(data) ?? data;

/**
 * Result of `make`, now or earlier for an equal input, in any process. Nobody may change it.
 *
 * @param kind ending of its files' names
 * @param input all that the result depends on, the library's own code aside; like the result, plain data (see `canonicalText`)
 */
export function memoised<Result extends object>(kind: string, input: unknown, make: () => Result): Result {
  const key = keyOf(kind, input);
  if (key === undefined) return make();
  const found = known.get(key.name)?.deref() ?? stored(key, kind);
  if (found) return found as Result;
  const made = make();
  keep(key.name, made);
  attempt(() => remember(kind, key.parts, serialize(made)));
  return made;
}

interface Key {
  readonly parts: readonly string[];
  readonly name: string;
}

function keyOf(kind: string, input: unknown): Key | undefined {
  const text = attempt(() => canonicalText(input));
  if (text === undefined || (text.length <= SHORT && !text.includes(MARK))) return undefined;
  const code = (digest ??= codeDigest());
  if (code === undefined) return undefined;
  const parts = [process.versions.v8, code, createHash("sha256").update(text).digest("hex")];
  return { parts, name: nameOf(kind, parts) };
}

function stored({ name, parts }: Key, kind: string): object | undefined {
  const found = attempt(() => {
    const data = recall(kind, parts);
    return data && (deserialize(data) as object);
  });
  if (found) keep(name, found);
  return found;
}

function keep(name: string, result: object): void {
  known.set(name, new WeakRef(result));
  names.set(result, MARK + name);
  for (const [part, value] of Object.entries(result))
    if (typeof value === "object" && value !== null) names.set(value as object, `${MARK}${name}, ${part}`);
}

/** Memory of results is no more than a help: deep trees, damaged files and folders of other users cost time. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

let digest: string | undefined;

/** Digest of the code in `FOLDERS`; undefined if it is not in files of its own, as in a bundle. */
function codeDigest(): string | undefined {
  if (!/\/src\/cache\/memoise\.[jt]s$/.test(import.meta.url)) return undefined;
  return attempt(() => {
    const hash = createHash("sha256");
    for (const folder of FOLDERS) addFolder(hash, fileURLToPath(new URL(`../${folder}/`, import.meta.url)));
    return hash.digest("hex");
  });
}

function addFolder(hash: Hash, folder: string): void {
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort())
    if (/(?<!\.d)\.[jt]s$/.test(file)) hash.update(`${file}:`).update(readFileSync(`${folder}/${file}`));
}
