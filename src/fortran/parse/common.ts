import type { CommonBlock } from "../tree/index.js";
import type { Cursor } from "./cursor.js";
import { declaredName } from "./declarations.js";

/* `common /grid/ n, x(10), /other/ a`; the block without a name is `//` or nothing. */

/** The blocks after the word `common`. @throws SyntaxProblem */
export function commonBlocks(c: Cursor): CommonBlock[] {
  const blocks: CommonBlock[] = [];
  do {
    const name = blockName(c);
    const names = [declaredName(c)];
    // A comma may stand before the next block.
    while (c.is(",") && !c.is("/", c.peek()) && !c.is("//", c.peek())) {
      c.next();
      names.push(declaredName(c));
    }
    blocks.push({ name, names });
  } while (c.take(",") || c.token.kind !== "end");
  return blocks;
}

function blockName(c: Cursor): string {
  if (c.take("//") || !c.take("/")) return "";
  const name = c.is("/") ? "" : c.name("the block's name");
  c.expect("/");
  return name;
}
