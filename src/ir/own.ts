/** The value under a name that users chose. What every object inherits, such as `constructor`, is none of it. */
export const own = <T>(values: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;
