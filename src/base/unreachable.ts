/** The end of a `switch` over a union: a new member is a compile error here, and what comes from elsewhere without types an error. */
export function unreachable(member: never): never {
  throw new Error(`no case for ${JSON.stringify(member)}`);
}
