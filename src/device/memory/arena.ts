/** Places in memory of a fixed size that pieces take and give back, each at a multiple of `ALIGNMENT` bytes. */
export class Arena {
  /** Pieces in use, by their begin. */
  private readonly pieces: { readonly begin: number; readonly end: number }[] = [];

  constructor(readonly bytes: number) {}

  /** The begin of the first free piece of this size; undefined where there is none. */
  take(bytes: number): number | undefined {
    const size = Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
    let begin = 0;
    let place = 0;
    for (; place < this.pieces.length && this.pieces[place].begin - begin < size; place++) begin = this.pieces[place].end;
    if (begin + size > this.bytes) return undefined;
    this.pieces.splice(place, 0, { begin, end: begin + size });
    return begin;
  }

  /** Gives back the piece at a begin that `take` gave. */
  give(begin: number): void {
    const place = this.pieces.findIndex((piece) => piece.begin === begin);
    if (place >= 0) this.pieces.splice(place, 1);
  }
}

/** Bytes between begins of pieces: no two share a line of a cache. */
const ALIGNMENT = 256;
