/*
 * Phrases that make readers stop, and the usual ones. A space in a pattern also matches the end of a line, with the `*` or `//` of the next one.
 */

export interface Phrase {
  readonly name: string;
  readonly pattern: RegExp;
  readonly better: string;
}

export interface Finding {
  readonly file: string;
  readonly line: number;
  /** The phrase's name. */
  readonly phrase: string;
  readonly text: string;
}

const GAP = String.raw`(?:[ \t]+|[ \t]*\n[ \t]*(?:\*|//)?[ \t]*)`;
const phrase = (name: string, pattern: string, better: string): Phrase => ({
  name,
  pattern: new RegExp(pattern.replaceAll(" ", GAP), "gm"),
  better,
});

/** Wrong wherever they stand. */
const ANYWHERE: readonly Phrase[] = [
  phrase(
    "is no X",
    String.raw`(?<!\b[Tt]here )\b(?:is|are|was|were) no (?!(?:longer|less|better|worse|faster|slower|other|matter|more)\b)[a-z]+`,
    '"is not a X"',
  ),
  phrase("those of", String.raw`\b[Tt]hose of\b`, 'the noun itself, or "the same as for X"'),
  phrase("that of", String.raw`\b[Tt]hat of\b`, 'the noun itself, or "the same as for X"'),
  phrase("of which", String.raw`(?<!\b(?:each|all|both|any|most|none|some) )\bof which\b`, "two sentences"),
  phrase("so many", String.raw`\bso (?:many|much|few)\b(?! (?:as|that)\b)`, '"this many", or the number'),
  phrase("behind", String.raw`(?<!\b(?:left|leaves?) (?:[a-z]+ )?)\b[Bb]ehind (?:[a-z]+|\`)`, '"after", for time and order'),
  phrase(
    "no more",
    String.raw`\b(?:is|are|was|were|does|do|has|have|holds?|runs?|exists?|needs?|matters?|fits?) no more\b(?! (?:than|[a-z]+ than)\b)`,
    '"no longer"',
  ),
  phrase("is none", String.raw`(?<!\b[Tt]here )\b(?:is|are|was|were) none\b`, '"is not one", "does not count"'),
  phrase("that there are", String.raw`\bthat there (?:is|are|was|were)\b`, '"existing", "unknown"'),
  phrase("held against", String.raw`\bheld against\b`, '"compared with"'),
  phrase("stands in front of", String.raw`\bstands? in front of\b`, '"precedes", "is followed by"'),
  phrase("what is there", String.raw`\bwhat (?:there (?:is|are|was)|is there|is not)\b`, "the noun"),
];

const OPENING = 'a verb or a noun phrase: "Deletes ...", "Start of each cell\'s list"';
const COMMENT = String.raw`(?:^|[ \t])(?:/\*\*?|//)(?:\s*\*)? ?`;

export const SOURCE_PHRASES: readonly Phrase[] = [
  ...ANYWHERE,
  ...["Of", "What", "Where", "That"].map((word) => ({
    name: `comment begins with "${word}"`,
    pattern: new RegExp(String.raw`${COMMENT}\s*${word} `, "gm"),
    better: OPENING,
  })),
];

export const PAGE_PHRASES: readonly Phrase[] = [
  ...ANYWHERE,
  phrase('sentence begins with "Of"', String.raw`(?:^(?:[-*|] )?|[.:] )Of [a-z]`, "subject, verb, object"),
  phrase('sentence begins with "What"', String.raw`(?:^(?:[-*|] )?|[.:|] )What [a-z][^.?|]*[.|]`, "a noun as the subject"),
];

/** A page without its code, which keeps the words of the program; lines stay where they are. */
export const proseOf = (page: string): string =>
  page.replace(/^[ \t]*```[^]*?^[ \t]*```|`[^`\n]+`/gm, (code) => code.replace(/[^\n]/g, "_"));

/** Phrases of a list in a text, in order. */
export function findPhrases(file: string, text: string, phrases: readonly Phrase[]): Finding[] {
  const found = phrases.flatMap(({ name, pattern }) =>
    [...text.matchAll(pattern)].map((match) => ({ name, at: match.index + match[0].search(/\S/), words: match[0].trim() })),
  );
  return found
    .sort((a, b) => a.at - b.at)
    .map(({ name, at, words }) => ({
      file,
      line: text.slice(0, at).split("\n").length,
      phrase: name,
      text: words.replace(/\s+/g, " ").slice(0, 60),
    }));
}
