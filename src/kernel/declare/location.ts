import type { Location } from "../../ir/types.js";

const FRAME = /((?:file:\/\/|[A-Za-z]:[\\/]|\/|https?:\/\/)[^()]*?):(\d+):(\d+)\)?$/;

/**
 * Place of the call of `callee`, from the stack; line 0 if the engine tells none. Engines and tools may show that place in the author's file;
 * if the file that runs is another one, its own place comes first, as it can be read, and has all that a map must tell.
 */
export function callSite(callee: Function): Location {
  const shown = siteIn(callee);
  const { prepareStackTrace } = Error;
  if (!prepareStackTrace && !globalThis.process?.sourceMapsEnabled) return shown;
  // Not where intrinsics are frozen.
  const set = Reflect.set(Error, "prepareStackTrace", (_: unknown, sites: readonly NodeJS.CallSite[]) =>
    sites.map((site) => `at ${site.getFileName()}:${site.getLineNumber()}:${site.getColumnNumber()}`).join("\n"),
  );
  if (!set) return shown;
  try {
    const run = siteIn(callee);
    return run.line > 0 && run.file !== shown.file ? run : shown;
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
  }
}

function siteIn(callee: Function): Location {
  const trace: { stack?: string } = {};
  if (Error.captureStackTrace) Error.captureStackTrace(trace, callee);
  // Other engines list these functions and the callee first.
  else trace.stack = new Error().stack?.split("\n").slice(3).join("\n");
  for (const line of (trace.stack ?? "").split("\n")) {
    const m = FRAME.exec(line.trim());
    if (m) return { file: m[1].startsWith("file://") ? decodeURI(m[1].slice(7)) : m[1], line: Number(m[2]), column: Number(m[3]) };
  }
  return { file: "unknown", line: 0, column: 0 };
}
