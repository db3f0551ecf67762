/** A line as it stands in its file, but for names of macros. */
export interface SourceLine {
  readonly text: string;
  readonly file: string;
  readonly line: number;
}
