/** The functions that are not exact, for f32 and for the sum of two. */
export const FUNCTIONS: Readonly<Record<string, string>> = {};
