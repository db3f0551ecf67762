declare const IDENTIFIER: unique symbol;

/** Text that is an identifier in every language of ours: `Names` gives it, or it is a word of code that is written here. */
export type Identifier = string & { readonly [IDENTIFIER]: true };

/** Fits identifiers and words that stand in our code, not text that comes from elsewhere, whose type is `string`. */
export type OwnWord<T extends string> = T & (T extends Identifier ? T : string extends T ? never : T);

/** A word of our own as an identifier. */
export const identifier = <const T extends string>(word: OwnWord<T>): Identifier => word as unknown as Identifier;

/** Meaning of a name: a parameter, or an argument that goes with one, such as an extent. */
export type NameKind = "param" | "view" | "table" | "local" | "argument";

/** Longer words are cut, as compilers and debuggers have limits. */
const LONGEST = 64;

/**
 * Gives every name of a kernel its own identifier, valid in any language: letters, digits and single underscores, with an underscore at its end.
 * No keyword, type, function or macro of a target ends like this, and no word that an emitter writes itself does; so nothing need be reserved.
 * Names that an emitter derives from such an identifier have a suffix after another underscore: `x__partials`, for `x_`.
 */
export class Names {
  private readonly taken = new Set<string>();
  private readonly given = new Map<string, Identifier>();

  /** The identifier of a variable of the kernel, like `wish`; `kind` keeps a local apart from the parameter that it hides. */
  of(kind: NameKind, name: string, wish = name): Identifier {
    const key = `${kind} ${name}`;
    const known = this.given.get(key);
    if (known !== undefined) return known;
    const fresh = this.fresh(wish);
    this.given.set(key, fresh);
    return fresh;
  }

  /** An identifier like `wish` that nothing else has. */
  fresh(wish: string): Identifier {
    const base = wordOf(wish);
    let name = `${base}_`;
    for (let n = 2; this.taken.has(name); n++) name = `${base}_${n}_`;
    this.taken.add(name);
    return name as Identifier;
  }
}

/** Letters, digits and single underscores inside, a letter first. */
export function wordOf(text: string): string {
  const word = text
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/^_/, "")
    .slice(0, LONGEST)
    .replace(/_$/, "");
  return /^[A-Za-z]/.test(word) ? word : `v${word}`;
}
