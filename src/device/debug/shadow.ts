const NOBODY = -1;

/** Who last wrote and read each place of a memory, to find accesses of different elements that would race. */
export class Shadow {
  private readonly writer: Int32Array;
  /** Two different readers are enough to know that one is not the writer. */
  private readonly reader: Int32Array;
  private readonly otherReader: Int32Array;

  constructor(size: number) {
    this.writer = new Int32Array(size).fill(NOBODY);
    this.reader = new Int32Array(size).fill(NOBODY);
    this.otherReader = new Int32Array(size).fill(NOBODY);
  }

  /** Notes that `who` reads the place; returns who else wrote it, if that was not before `since`. */
  read(at: number, who: number, since: number): number | undefined {
    const writer = this.writer[at];
    if (writer >= since && writer !== who) return writer;
    const reader = this.reader[at];
    if (reader < since || reader === who) this.reader[at] = who;
    else this.otherReader[at] = who;
    return undefined;
  }

  /** Notes that `who` writes the place; returns who else wrote it, or read it, if that was not before `since`. */
  write(at: number, who: number, since: number): { wrote: number } | { read: number } | undefined {
    const writer = this.writer[at];
    this.writer[at] = who;
    if (writer >= since && writer !== who) return { wrote: writer };
    for (const reader of [this.reader[at], this.otherReader[at]]) if (reader >= since && reader !== who) return { read: reader };
    return undefined;
  }
}
