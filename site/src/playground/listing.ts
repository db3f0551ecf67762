import { highlightCode } from "@lezer/highlight";
import { domElement } from "../element.js";
import { CLASSES, grammar, type GrammarName } from "./grammars.js";

/*
 * Texts that are read, not written: the IR and what is emitted.
 */

/** A line that begins a file where a target has several. */
const HEAD = /^==== (.+) ====$/m;

const BY_ENDING: Readonly<Record<string, GrammarName>> = { js: "typescript", mjs: "typescript", wat: "wat", wgsl: "wgsl" };
const BY_TITLE: Readonly<Record<string, GrammarName>> = { IR: "ir", js: "typescript", wat: "wat", wgsl: "wgsl" };

const ofTitle = (title: string): GrammarName => (title.startsWith("fortran") ? "fortran" : (BY_TITLE[title] ?? "c"));

/** Shows `text` in `place`, and colours it by the language of `title`, or of its files' names, once that is loaded. */
export async function listText(place: HTMLElement, title: string, text: string): Promise<void> {
  if (place.textContent === text) return;
  place.textContent = text;
  const pieces = text.split(HEAD);
  const parts: { readonly name: GrammarName; readonly head: string; readonly code: string }[] = [
    { name: ofTitle(title), head: "", code: pieces[0] },
  ];
  for (let n = 1; n < pieces.length; n += 2)
    parts.push({ name: BY_ENDING[pieces[n].split(".").pop()!] ?? ofTitle(title), head: `==== ${pieces[n]} ====`, code: pieces[n + 1] });
  const coloured = await Promise.all(parts.map(async ({ name, head, code }) => [head, ...(await spans(name, code))]));
  if (place.textContent === text) place.replaceChildren(...coloured.flat());
}

async function spans(name: GrammarName, code: string): Promise<readonly (Node | string)[]> {
  const { parser } = await grammar(name);
  const found: (Node | string)[] = [];
  highlightCode(
    code,
    parser.parse(code),
    CLASSES,
    (textContent, className) => found.push(className ? domElement("span", { className, textContent }) : textContent),
    () => found.push("\n"),
  );
  return found;
}
