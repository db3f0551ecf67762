import type { Problems } from "../errors.js";
import { logicalLines } from "../text/logical-lines.js";
import type { SourceOptions } from "../text/preprocess.js";
import type { SourceFile, Unit } from "../tree/index.js";
import { LineReader } from "./statements.js";
import { parseUnit } from "./units.js";

export type { SourceOptions } from "../text/preprocess.js";

/** The syntax tree of a file in free form. What is wrong is added to `problems`, each thing at its place; the tree then lacks it. */
export function parse(text: string, options: SourceOptions, problems: Problems): SourceFile {
  const { lines, after } = logicalLines(text, options, problems);
  const reader = new LineReader(lines, problems);
  const units: Unit[] = [];
  for (let head = reader.head; head; head = reader.head) {
    const from = reader.n;
    const made = parseUnit(reader, head);
    if (made) units.push(made);
    if (reader.n === from) reader.n++;
  }
  return { file: options.file, units, after: [...reader.carried, ...after] };
}
