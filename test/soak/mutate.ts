import { sequence } from "../random/data.js";

/** Whole numbers below a bound, the same ones for the same seed. */
export type Pick = (below: number) => number;

export function picks(seed: number): Pick {
  const next = sequence(seed);
  return (below) => Math.floor(next() * below);
}

export const oneOf = <T>(pick: Pick, list: readonly T[]): T => list[pick(list.length)];

/** Words that mean something to a parser, an object, a number or a shell. */
const ODD_WORDS = (
  "constructor __proto__ valueOf toString hasOwnProperty prototype arguments this null undefined NaN Infinity -0 1e999 1e-400 0x1f 1n 9007199254740993 " +
  "( ) [ ] { } => = == === ! ~ ? : ?. ?? ??= ** **= >>>= >>> << ++ -- , ; ... . / /* // ` ' \" \\ # @ $ _ é π ￿ if else for while do break continue return " +
  "let const var function class new delete typeof instanceof in of async await yield throw try catch switch case default with import export label: " +
  "i j k 0 1 -1 0.5 2147483648 -2147483649 true false Math Math.sqrt Math.constructor Float64Array length sum add x[i] y[i] team lanes console.log"
).split(" ");

const WORD = /[A-Za-z_$][\w$]*|\d[\w.]*|\s+|[^\w\s]/g;

const KINDS = [/^[A-Za-z_$]/, /^\d/, /^[-+*/%&|^<>=!~]+$/];

/** A text of which some words are gone, doubled, exchanged, moved, or others. */
export function mutatedText(text: string, pick: Pick): string {
  const words = text.match(WORD) ?? [];
  for (let turns = 1 + pick(2); turns > 0 && words.length > 0; turns--) {
    const at = pick(words.length),
      other = pick(words.length);
    switch (pick(10)) {
      // Most mutants are still of the language's form with another word of the same kind.
      case 7:
      case 8:
      case 9: {
        const kind = KINDS.find((each) => each.test(words[at])) ?? /./;
        words[at] = oneOf(
          pick,
          [...words, ...ODD_WORDS].filter((word) => kind.test(word)),
        );
        break;
      }
      case 0:
        words.splice(at, 1 + pick(3));
        break;
      case 1:
        words.splice(at, 0, words[at]);
        break;
      case 2:
        [words[at], words[other]] = [words[other], words[at]];
        break;
      case 3:
        words[at] = words[other];
        break;
      case 4:
        words.splice(other, 0, ...words.slice(at, at + pick(12)));
        break;
      case 5:
        words.splice(at, 0, oneOf(pick, ODD_WORDS));
        break;
      default:
        words[at] = oneOf(pick, ODD_WORDS);
    }
  }
  return words.join("");
}

/** Bytes of which some are others, gone, doubled or moved. */
export function mutatedBytes(bytes: Uint8Array, pick: Pick): Uint8Array<ArrayBuffer> {
  let made = Uint8Array.from(bytes);
  for (let turns = 1 + pick(3); turns > 0 && made.length > 0; turns--) {
    const at = pick(made.length),
      length = 1 + pick(Math.min(64, made.length - at));
    switch (pick(6)) {
      case 0:
        made[at] ^= 1 << pick(8);
        break;
      case 1:
        made[at] = pick(256);
        break;
      case 2:
        made = made.slice(0, at);
        break;
      case 3:
        made = Uint8Array.from([...made.subarray(0, at), ...made.subarray(at + length)]);
        break;
      case 4:
        made = Uint8Array.from([...made.subarray(0, at + length), ...made.subarray(at)]);
        break;
      default:
        made.copyWithin(pick(made.length), at, at + length);
    }
  }
  return made;
}

const ODD_VALUES = [
  0,
  -0,
  -1,
  0.5,
  1e300,
  1e-320,
  2 ** 53 + 2,
  1e9,
  null,
  true,
  "",
  "x",
  "constructor",
  "__proto__",
  [],
  {},
  [1, 2],
  "9".repeat(1000),
];

/** A JSON value of which something, however deep, is another, has another name or is gone. */
export function mutatedJson(value: unknown, pick: Pick): unknown {
  if (typeof value !== "object" || value === null || pick(8) === 0) return oneOf(pick, ODD_VALUES);
  const keys = Object.keys(value);
  if (keys.length === 0) return oneOf(pick, ODD_VALUES);
  const key = oneOf(pick, keys);
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  switch (pick(9)) {
    case 0:
      delete copy[key];
      break;
    case 1:
      copy[oneOf(pick, [`${key}x`, "constructor", "toString"])] = copy[key];
      break;
    case 2:
      copy[key] = copy[oneOf(pick, keys)];
      break;
    default:
      copy[key] = mutatedJson(copy[key], pick);
  }
  return copy;
}
