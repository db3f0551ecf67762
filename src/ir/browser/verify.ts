/*
 * Stands in for `#verify` in a browser and does nothing. The verifier finds mistakes of the compiler and of hand-made code; Node looks for them.
 * `isoform/ir` exports it for browsers, too.
 */

/** Takes all code for sound. */
export function verify(): void {}
