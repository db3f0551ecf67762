const KEYWORDS =
  "auto break case char const continue default do double else enum extern float for goto if inline int long register restrict return short " +
  "signed sizeof static struct switch typedef union unsigned void volatile while _Bool bool true false asm typeof main";

/** Gives every name of a kernel a C identifier of its own, the same one where it is free. */
export class Names {
  private readonly taken: Set<string>;
  private readonly given = new Map<string, string>();

  constructor(reserved: Iterable<string>) {
    this.taken = new Set([...KEYWORDS.split(" "), ...reserved]);
  }

  /** The identifier of a variable of the kernel, like `wish`; `kind` keeps a local apart from the parameter that it hides. */
  of(kind: "param" | "view" | "table" | "local", name: string, wish = name): string {
    const key = `${kind} ${name}`;
    const known = this.given.get(key);
    if (known !== undefined) return known;
    const fresh = this.fresh(wish);
    this.given.set(key, fresh);
    return fresh;
  }

  /** An identifier like `wish` that nothing else has. */
  fresh(wish: string): string {
    const base = wish.replace(/[^A-Za-z0-9_]/g, "_").replace(/^(?=\d|_)/, "v");
    let name = base;
    for (let n = 2; this.taken.has(name); n++) name = `${base}_${n}`;
    this.taken.add(name);
    return name;
  }
}
