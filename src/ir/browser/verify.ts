/*
 * What `#verify` means in a browser: nothing. The verifier finds mistakes of the compiler and of hand-made code, which are looked for in Node;
 * `isoform/ir` exports it for browsers, too.
 */

/** Takes all code for sound. */
export function verify(): void {}
