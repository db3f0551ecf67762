import type { Location } from "../ir/types.js";

const FRAME = /((?:file:\/\/|[A-Za-z]:[\\/]|\/|https?:\/\/)[^()]*?):(\d+):(\d+)\)?$/;

/** Where `callee` was called, from the stack; line 0 where the engine tells none. */
export function callSite(callee: Function): Location {
  const trace: { stack?: string } = {};
  if (Error.captureStackTrace) Error.captureStackTrace(trace, callee);
  // Other engines list this function and the callee first.
  else trace.stack = new Error().stack?.split("\n").slice(2).join("\n");
  for (const line of (trace.stack ?? "").split("\n")) {
    const m = FRAME.exec(line.trim());
    if (m) return { file: m[1].startsWith("file://") ? decodeURI(m[1].slice(7)) : m[1], line: Number(m[2]), column: Number(m[3]) };
  }
  return { file: "unknown", line: 0, column: 0 };
}
