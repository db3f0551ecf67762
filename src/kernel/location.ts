import type { Location } from "../ir/types.js";

/** The first caller outside this folder, from the stack; line 0 where the engine tells none. */
export function callSite(): Location {
  const lines = (new Error().stack ?? "").split("\n").slice(1);
  for (const line of lines) {
    const m = /\(?((?:file:\/\/|[A-Za-z]:[\\/]|\/|https?:\/\/)[^()]*?):(\d+):(\d+)\)?$/.exec(line.trim());
    if (!m || /[\\/]kernel[\\/](kernel|location)\.[jt]s$/.test(m[1])) continue;
    return { file: m[1].replace(/^file:\/\//, ""), line: Number(m[2]), column: Number(m[3]) };
  }
  return { file: "unknown", line: 0, column: 0 };
}
