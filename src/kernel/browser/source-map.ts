import type { Location } from "../../ir/types.js";
import type { TextLocation } from "../source-map.js";

/* What `#source-map` means in a browser, which reads no files: places are those of the page's own scripts. */

/** Where a function was declared: its text is not looked for. */
export const findInFile = (_text: string, declared: Location): TextLocation => ({ ...declared, found: false });

/** The place itself. */
export const originalPosition = (location: Location): Location => location;
