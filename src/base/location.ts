/** Place of a piece of a kernel in its source; `line` and `column` count from 1. */
export interface Location {
  file: string;
  line: number;
  column: number;
}
