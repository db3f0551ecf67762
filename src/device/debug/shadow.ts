const NOBODY = -1;

/** Who last wrote and read each place of a memory, to find accesses of different elements that would race. */
export class Shadow {
  private readonly writer: Int32Array;
  /** Two different readers are enough to know that one is not the writer. */
  private readonly reader: Int32Array;
  private readonly otherReader: Int32Array;

  constructor(places: number) {
    this.writer = new Int32Array(places).fill(NOBODY);
    this.reader = new Int32Array(places).fill(NOBODY);
    this.otherReader = new Int32Array(places).fill(NOBODY);
  }

  /** Notes that `who` reads the place; returns who else wrote it, if that was not before `since`. */
  read(place: number, who: number, since: number): number | undefined {
    const writer = this.writer[place];
    if (writer >= since && writer !== who) return writer;
    const reader = this.reader[place];
    if (reader < since || reader === who) this.reader[place] = who;
    else this.otherReader[place] = who;
    return undefined;
  }

  /** Notes that `who` writes the place; returns who else wrote it, or read it, if that was not before `since`. */
  write(place: number, who: number, since: number): { wrote: number } | { read: number } | undefined {
    const writer = this.writer[place];
    this.writer[place] = who;
    if (writer >= since && writer !== who) return { wrote: writer };
    for (const reader of [this.reader[place], this.otherReader[place]]) if (reader >= since && reader !== who) return { read: reader };
    return undefined;
  }
}
