/** Browsers have no setImmediate. */
const later = globalThis.setImmediate ?? globalThis.setTimeout;

/** Gives others their turn on the event loop. */
export const turn = (): Promise<void> => new Promise((resume) => later(() => resume()));
