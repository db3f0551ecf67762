import ts from "typescript";

const parsed = new Map<string, ts.SourceFile>();

/** The tree of a source, parsed once for all rules of this folder. */
export function parse(name: string, text: string): ts.SourceFile {
  const known = parsed.get(name);
  if (known?.text === text) return known;
  const source = ts.createSourceFile(name, text, ts.ScriptTarget.ES2022, true);
  parsed.set(name, source);
  return source;
}
