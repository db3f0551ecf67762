import type { Location } from "../../ir/types.js";
import type { Unit } from "./units.js";

/* Places in files, by which ports know statements and units again that they have changed. */

export const sourceKey = ({ file, line, column }: Location): string => `${file}:${line}:${column}`;

/** A unit's place, which tells units of one name apart. */
export const unitKey = ({ name, at }: Pick<Unit, "name" | "at">): string => `${name} ${sourceKey(at)}`;
