/** Plain data as JSON, in which bigints end in n. @param without names of members to leave out */
export const jsonText = (data: unknown, without?: string): string =>
  JSON.stringify(data, (name, part: unknown) =>
    name === without && name !== "" ? undefined : typeof part === "bigint" ? `${part}n` : part,
  );
