import { unreachable } from "../../../base/unreachable.js";
import type { NumericType } from "../../../ir/scalars.js";
import type { Expr, Type } from "../../../schedule/nodes.js";
import type { GpuDialect } from "./dialect.js";

type WordOf = Extract<Expr, { op: "word" }>;

/** Printer of the arguments. */
interface Texts {
  value(e: Expr): string;
  pointed(e: Expr): string;
  type(type: Type): string;
}

/** Calls of what a language has in words of its own. */
export function spellWord(
  { word, type, args }: WordOf,
  texts: Texts,
  { dialect, definitions }: { dialect: GpuDialect; definitions: Set<string> },
): string {
  const [a = "", b = "", c = ""] = args.map((arg) => texts.value(arg));
  const groups = () => needed(dialect, "subGroups");
  const peers = () => {
    const access = needed(dialect, "peerAccess");
    definitions.add(access.definition);
    return access;
  };
  const fold = (op: "sum" | "min" | "max") => groups().fold(op, type as NumericType, a)!;
  switch (word) {
    case "groupSum":
      return fold("sum");
    case "groupMin":
      return fold("min");
    case "groupMax":
      return fold("max");
    case "isFirstOfGroup":
      return groups().first;
    case "groupNumber":
      return groups().number;
    case "groups":
      return groups().count;
    case "lanesTogether":
      return needed(dialect, "shuffle").group.mask!(a, b, Number(c));
    case "ticket":
      return needed(dialect, "lastBlock").ticket(a, b);
    case "clock":
      return peers().nanoseconds;
    case "ask": {
      const ahead = needed(dialect, "ahead");
      definitions.add(ahead.definition);
      return ahead.ask(a);
    }
    case "poll":
      return peers().load(texts.pointed(args[0]!), [b, c]);
    case "pause":
      return peers().pause;
    case "fail":
      return peers().fail;
    case "sameBits":
      return `*(const ${texts.type(type)} *)&${a}`;
    default:
      return unreachable(word);
  }
}

function needed<K extends keyof GpuDialect>(dialect: GpuDialect, word: K): NonNullable<GpuDialect[K]> {
  const found = dialect[word];
  if (found === undefined) throw new Error(`${dialect.name} has no ${word}; its features promise it`);
  return found as NonNullable<GpuDialect[K]>;
}
