/** Words that JavaScript or the emitted functions themselves use; generated names start with `$`. */
const TAKEN = new Set(
  (
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in " +
    "instanceof interface let new null package private protected public return static super switch this throw true try typeof undefined var void while with yield " +
    "Math NaN Infinity Float64Array Float32Array Int32Array Uint32Array Uint8Array BigInt64Array Atomics memory buffers args worker workers"
  ).split(" "),
);

/** Gives each name of a kernel an identifier of its own, the name itself where that may be. */
export class Names {
  private readonly given = new Map<string, string>();
  private readonly used = new Set(TAKEN);

  of(name: string): string {
    let identifier = this.given.get(name);
    if (identifier === undefined) {
      identifier = this.unused(name.replace(/[^A-Za-z0-9_]/g, "_").replace(/^(?=\d)/, "_"));
      this.given.set(name, identifier);
    }
    return identifier;
  }

  /** A new generated name: `$stem`, with a number where that is taken. */
  fresh(stem: string): string {
    return this.unused("$" + stem.replace(/[^A-Za-z0-9_]/g, "_"));
  }

  private unused(stem: string): string {
    let identifier = stem;
    for (let n = 1; this.used.has(identifier); n++) identifier = `${stem}$${n}`;
    this.used.add(identifier);
    return identifier;
  }
}
