import type { Location } from "../../../ir/types.js";
import type { TextLocation } from "../source-map.js";

/* Implementation of `#source-map` in a browser, which reads no files: places are places of the page's own scripts. */

/** Place of a function's declaration: its text is not looked for. */
export const findInFile = (_text: string, declared: Location): TextLocation => ({ ...declared, found: false });

/** No file is at hand. */
export const authorsTextBefore = (_location: Location): string | undefined => undefined;

/** The place itself. */
export const originalPosition = (location: Location): Location => location;
