import type { Unsupported } from "../tree/index.js";
import { find, type UnitScope } from "./symbols.js";

const OUTPUTS: readonly string[] = ["write", "open", "close", "flush", "format", "rewind", "backspace", "endfile"];

/** Whether a statement does no more than files, screens and texts see, on which nothing depends (analyse/texts). */
export function isOutput(scope: UnitScope, stmt: Unsupported): boolean {
  if (!OUTPUTS.includes(stmt.construct)) return false;
  if (stmt.construct !== "write") return true;
  const [, unit] = /^write\s*\(\s*(?:unit\s*=\s*)?(\*|\w+)\s*[,)]/i.exec(stmt.text) ?? [];
  if (unit === undefined) return false;
  return unit === "*" || /^\d/.test(unit) || !find(scope, unit.toLowerCase())?.attributes.has("text");
}
