import type { Shell } from "isoform/portability";

/** Tells of an index, which several processes write in place of a VTK file. */
export function tellIndex(shell: Pick<Shell, "print">, asked: string, written: string): void {
  if (written !== asked) shell.print(`${written} shows the pieces of all processes, in place of ${asked}`);
}
