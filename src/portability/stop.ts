/** Somebody has ended the campaign while something was under way. */
export class Stopped extends Error {}

/**
 * Result of the work, or Stopped as soon as the signal says so, whatever becomes of the work then. Signals of the system are seen in between:
 * work that never waits would not let them in.
 */
export async function unlessStopped<T>(stop: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  if (!stop) return work();
  await new Promise((resolve) => setTimeout(resolve));
  if (stop.aborted) throw new Stopped();
  let refuse = (): void => undefined;
  const stopped = new Promise<never>((_, reject) => (refuse = () => reject(new Stopped())));
  stop.addEventListener("abort", refuse);
  const done = work();
  done.catch(() => undefined);
  try {
    return await Promise.race([done, stopped]);
  } finally {
    stop.removeEventListener("abort", refuse);
  }
}
