/** Lines of code, without their common indentation. */
export type Lines = string[];

export const indent = (lines: Lines): Lines => lines.map((line) => "  " + line);

/** `head { ... }`, on one line where it is short. */
export const braced = (head: string, lines: Lines): Lines =>
  lines.length <= 2 && lines.join("").length < 100 ? [`${head}{ ${lines.join(" ")} }`] : [`${head}{`, ...indent(lines), "}"];
