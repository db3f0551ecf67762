import type { Progress } from "../portability/application.js";

/** Width of a bar, in characters. */
const BAR = 24;
/** Milliseconds from one plain line to the next. */
const QUIET = 5000;

let clearShown = (): void => undefined;

/** Clears the bar that is on the terminal, if there is one: for whatever else is printed. */
export const clearProgress = (): void => clearShown();

/** Shows progress on standard error: a bar that redraws itself on a terminal, elsewhere a line every few seconds. */
export function progress(label: string): { update: Progress; done(): void } {
  const stream = process.stderr;
  const terminal = stream.isTTY;
  let last = performance.now();
  let drawn = false;
  const clear = () => {
    if (drawn) stream.write("\r\x1b[2K");
    drawn = false;
  };
  return {
    update(done, total, text = "") {
      const now = performance.now();
      if (terminal && (now - last > 50 || !drawn)) {
        const share = Math.min(1, total > 0 ? done / total : 0);
        const filled = Math.round(share * BAR);
        const line = `${label} ${"█".repeat(filled)}${"░".repeat(BAR - filled)} ${Math.floor(100 * share)}% ${text}`;
        clear();
        stream.write(line.slice(0, Math.max(20, (stream.columns ?? 80) - 1)));
        drawn = true;
        clearShown = clear;
        last = now;
      } else if (!terminal && now - last > QUIET) {
        stream.write(`${label}: ${Number(done.toPrecision(4))} of ${Number(total.toPrecision(4))}${text && `, ${text}`}\n`);
        last = now;
      }
    },
    done: clear,
  };
}
