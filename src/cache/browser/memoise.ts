/* What `#memoise` means in a browser: there are no files, and what is made once is seldom made again. */

/** The data itself. */
export const named = (data: object): unknown => data;

/** What `make` gives. */
export const memoised = <Result extends object>(_kind: string, _input: unknown, make: () => Result): Result => make();
