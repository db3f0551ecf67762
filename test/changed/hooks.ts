import type { InitializeHook, LoadHook } from "node:module";
import { fileURLToPath } from "node:url";
import { append } from "./append.js";

/* Notes the modules that a process loads, in the file that `record.ts` names. Node runs this in a thread of its own. */
let file: string | undefined;

export const initialize: InitializeHook<string> = (data) => {
  file = data;
};

export const load: LoadHook = (url, context, next) => {
  if (file !== undefined && url.startsWith("file:")) append(file, `file ${fileURLToPath(url)}\n`);
  return next(url, context);
};
