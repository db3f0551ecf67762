/*
 * Aligns the words of a function's text with the words of its file, for tools that have stripped the types and changed the lines without
 * a source map.
 */

interface Word {
  readonly text: string;
  /** Without the number that esbuild gives to names that stand outside of the function, too: `x` of `x2`. */
  readonly stem: string;
  readonly at: number;
}

const WORD = /\/\/.*|\/\*[^]*?\*\/|(["'`])(?:\\.|(?!\1)[^\\])*\1|[A-Za-z_$][\w$]*|(?:\d|\.\d)[\w.]*/g;

/** The words of the text that was read last: many functions are looked for in one file. */
let last: { readonly text: string; readonly words: readonly Word[] } | undefined;

function wordsOfFile(text: string): readonly Word[] {
  if (last?.text !== text) last = { text, words: wordsOf(text) };
  return last.words;
}

/** Names and numbers in order, without comments and strings; numbers as their values. A property that was `{ x }` is one word of `{ x: x2 }`, too. */
const wordsOf = (text: string): Word[] =>
  [
    ...text
      .replace(/\b([A-Za-z_$][\w$]*?)(:\s?\1\d+)\b/g, (_, name: string, rest: string) => name + " ".repeat(rest.length))
      .matchAll(WORD),
  ].flatMap(({ 0: word, index }) => {
    if (/^["'`/]/.test(word)) return [];
    const text = /^[\d.]/.test(word) ? String(Number(word)) : word;
    return [{ text, stem: /^[A-Za-z_$]/.test(word) ? word.replace(/\d+$/, "") : text, at: index }];
  });

const [MATCH, STRANGE, SKIP] = [4, -2, -0.5];
/** Share of the greatest possible score that an alignment needs, so that both texts are the same function. */
const ENOUGH = 0.75;
const MOST_PAIRS = 4e6;

/**
 * Maps the places of `text` to places in `file`, at or after `start` if possible: a function of offsets. Undefined if too few of its words are there
 * in that order, as where names were changed.
 */
export function align(text: string, file: string, start: number): ((offset: number) => number) | undefined {
  const words = wordsOf(text);
  const all = wordsOfFile(file);
  const found =
    match(
      words,
      all.filter(({ at }) => at >= start),
    ) ?? match(words, all);
  if (!found) return undefined;
  return (offset) => {
    const next = words.findIndex((word, n) => word.at >= offset && found[n] !== undefined);
    if (next < 0) return found.findLast((at) => at !== undefined)!;
    // Signs before the word belong to it, where they are the same.
    const before = text.slice(offset, words[next].at);
    const place = found[next]!;
    return file.startsWith(before, place - before.length) ? place - before.length : place;
  };
}

/** The place of each word, undefined for those that are not there: the alignment of the greatest score, by dynamic programming. */
function match(words: readonly Word[], all: readonly Word[]): (number | undefined)[] | undefined {
  const width = all.length + 1;
  if (words.length === 0 || words.length * width > MOST_PAIRS || greatestScore(words, all) < leastScore(words)) return undefined;
  // Allows any text before and after the function at no cost.
  let row = new Float64Array(width);
  const moves = words.map(({ text, stem }, n) => {
    const next = new Float64Array(width).fill((n + 1) * STRANGE);
    const move = new Uint8Array(width);
    for (let m = 1; m < width; m++) {
      const [strange, skip] = [row[m] + STRANGE, next[m - 1] + SKIP];
      const match = all[m - 1].text === text || all[m - 1].text === stem ? row[m - 1] + MATCH : -Infinity;
      next[m] = Math.max(strange, skip, match);
      move[m] = match === next[m] ? 2 : skip === next[m] ? 1 : 0;
    }
    row = next;
    return move;
  });
  let m = row.indexOf(Math.max(...row));
  if (row[m] < leastScore(words)) return undefined;
  const found: (number | undefined)[] = words.map(() => undefined);
  for (let n = words.length - 1; n >= 0 && m > 0;) {
    const move = moves[n][m];
    if (move === 2) found[n] = all[m - 1].at;
    if (move !== 1) n--;
    if (move !== 0) m--;
  }
  return found;
}

/** Least score of an alignment that counts. */
const leastScore = (words: readonly Word[]): number => ENOUGH * MATCH * words.length;

/** Upper bound of any alignment's score: all words that both have, in whatever order. */
function greatestScore(words: readonly Word[], all: readonly Word[]): number {
  const left = new Map<string, number>();
  for (const { stem } of all) left.set(stem, (left.get(stem) ?? 0) + 1);
  let score = 0;
  for (const { stem } of words) {
    const count = left.get(stem) ?? 0;
    score += count > 0 ? MATCH : STRANGE;
    left.set(stem, count - 1);
  }
  return score;
}
