/** Lines that programs print with digests of values. */
export const digestsIn = (stdout: string): string[] => stdout.split(/\r?\n/).filter((line) => /^(\S+: [0-9a-f]{16}$|digests )/.test(line));
