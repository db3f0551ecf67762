/*
 * The sizes of the mailboxes through which blocks bring their totals together (all-reduce.ts): for who writes kernels, and who launches them.
 */

/** Words that a block sends at most, one a thread. */
export const MOST_SENT = 64;

/** Whether a block can send the totals of this many reductions to this many GPUs. */
export const canSend = (reductions: number, members = 1): boolean => 2 * members * reductions <= MOST_SENT;

/** Threads that receive. */
export const RECEIVERS = 32;
