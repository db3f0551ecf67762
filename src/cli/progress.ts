import type { Progress } from "../portability/application.js";

const BAR = 24;
/** Between plain lines, in milliseconds. */
const QUIET = 5000;

/** A bar that redraws itself on a terminal; elsewhere a line every few seconds. On standard error. */
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
        last = now;
      } else if (!terminal && now - last > QUIET) {
        stream.write(`${label}: ${Number(done.toPrecision(4))} of ${Number(total.toPrecision(4))}${text && `, ${text}`}\n`);
        last = now;
      }
    },
    done: clear,
  };
}
