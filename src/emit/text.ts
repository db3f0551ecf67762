/*
 * Text that others wrote (names of kernels and parameters, files, sizes in words) enters generated code here alone: as an identifier (names.ts), in a
 * comment, or as a string of JavaScript. Nothing else of it reaches a compiler.
 */

/** Longer text is cut. */
const LONGEST = 200;

/**
 * The text where a comment has place for it, in any language: on one line, with nothing that ends a comment, begins one inside of another, continues
 * a line, or is shown otherwise than it stands there.
 */
export function commentText(text: string): string {
  const visible = text.replace(/[^\p{L}\p{N}\p{M}\p{P}\p{S} ]|\\/gu, codePoint).replace(/(?<=[?*/(;])(?=[?*/;)])/g, " ");
  return visible.length <= LONGEST ? visible : `${visible.slice(0, LONGEST)}...`;
}

/** A line comment's words on where code comes from. */
export const originText = ({ name, location }: { readonly name: string; readonly location: { readonly file: string } }): string =>
  `Kernel "${commentText(name)}" (${commentText(location.file.replace(/^.*[\\/]/s, ""))}), written by isoform`;

/** A string of JavaScript in ASCII. */
export const stringText = (text: string): string =>
  JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** The text as part of a format of C's `printf`, between its quotes. */
export const formatText = (text: string): string =>
  [...new TextEncoder().encode(text)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      if (character === "%") return "%%";
      return /[ -~]/.test(character) && !/["?\\]/.test(character) ? character : `\\${byte.toString(8).padStart(3, "0")}`;
    })
    .join("");

/** A property's name in an object of JavaScript; in brackets where it would name the prototype. */
export function keyText(name: string): string {
  if (name === "__proto__") return '["__proto__"]';
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : stringText(name);
}

const codePoint = (character: string): string => `<U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}>`;
