import { posix } from "node:path";

/* Exported names, and who imports them. The formatter writes declarations and imports in one way, so that patterns find them. */

/** A name that a file exports. */
export interface Exported {
  readonly file: string;
  readonly name: string;
  /** Files that import it by name. */
  readonly users: readonly string[];
}

const DECLARED = /^export (?:declare |abstract |async )*(?:interface|type|(?:const )?enum|const|let|function\*?|class) (\w+)/gm;
const LISTED = /^(?:import|export) (?:type )?(?:\w+, )?\{([^}]*)\} from "([^"]+)"/gm;
/** `import * as`, `export *`, `import("...")`. */
const WHOLE = /(?:^(?:import|export) (?:type )?\*[^"]* from |\bimport\()"([^"]+)"/gm;

/** Names that a file declares and exports, each once. */
export const declaredNames = (text: string): string[] => [...new Set([...text.matchAll(DECLARED)].map(([, name]) => name))];

/**
 * Names that files export, but for files that others take as a whole.
 * @param packaged files that package specifiers such as `isoform/set` stand for
 */
export function exportsOf(sources: ReadonlyMap<string, string>, packaged: ReadonlyMap<string, string>): Exported[] {
  const users = new Map<string, Set<string>>();
  const whole = new Set<string>();
  for (const [file, text] of sources) {
    const resolve = (specifier: string): string | undefined =>
      specifier.startsWith(".") ? posix.join(posix.dirname(file), specifier).replace(/\.js$/, ".ts") : packaged.get(specifier);
    for (const [, names, specifier] of text.matchAll(LISTED))
      for (const [, name] of names.matchAll(/(?:^|,)\s*(?:type )?(\w+)/g)) {
        const key = `${resolve(specifier)} ${name}`;
        users.set(key, (users.get(key) ?? new Set()).add(file));
      }
    for (const [, specifier] of text.matchAll(WHOLE)) whole.add(resolve(specifier) ?? "");
  }
  return [...sources].flatMap(([file, text]) =>
    whole.has(file)
      ? []
      : [...text.matchAll(DECLARED)].map(([, name]) => ({ file, name, users: [...(users.get(`${file} ${name}`) ?? [])] })),
  );
}
