import { readFileSync } from "node:fs";
import { FortranError } from "../../src/fortran/errors.js";
import { FORTRAN_TARGETS } from "../../src/fortran/port/targets.js";
import { portSources } from "../../src/fortran/port/sources.js";
import { HEAT, inModule } from "../fortran/fixtures.js";
import { mutatedText, oneOf, picks } from "./mutate.js";
import type { Counts, Subject } from "./subject.js";

/** What may be mutated besides our own files: a file that is named. */
const extra = process.env["ISOFORM_SOAK_FORTRAN"];

const TEXTS: readonly string[] = [
  HEAT,
  inModule(
    "real(8) :: x",
    "!$acc parallel loop gang\ndo k=1,n\n!$acc loop vector reduction(max:x)\ndo j=1,n\nselect case (j)\ncase (1, 3:)\nx = max(x, a(1,j,k))\ncase default\ncycle\nend select\nend do\nend do\n" +
      "do concurrent (i=1:n, j=1:n, i/=j) local(k) reduce(+:x)\nx = x + b(i,j,1)**2/3._8\nend do\n#if defined(A) && B > 2\nwhere (a > 0) a = -b\n#else\n" +
      "outer: do while (x < 1e3_8 .or. .not. n == 2)\nif (x > 2) exit outer\nassociate (y => a(:, 1:n:2, 3))\nprint *, 'it''s', y\nend associate\nend do outer\n#endif",
  ),
  ...(extra === undefined ? [] : [readFileSync(extra, "utf8")]),
];

/** Mutants of Fortran: each is ported, or refused with problems that have places; what is ported is read again, and printed as the same text. */
export const fortran: Subject = {
  name: "fortran",
  weight: 5,
  async open() {
    return {
      async trial(seed): Promise<Counts> {
        const pick = picks(seed);
        const text = mutatedText(oneOf(pick, TEXTS), pick);
        const targets = [oneOf(pick, FORTRAN_TARGETS)];
        let ported: string;
        try {
          [{ text: ported }] = portSources([{ file: "a.F90", text }], { targets });
        } catch (error) {
          if (!(error instanceof FortranError)) throw error;
          const last = text.split("\n").length + 1;
          for (const { at, why } of error.problems)
            if (!(at.line >= 1 && at.line <= last && at.column >= 1 && why !== ""))
              throw new Error(`a problem has no place: ${error.message}`);
          return { "fortran refused": 1 };
        }
        const again = portSources([{ file: "a.F90", text: ported }], { targets: ["cpu"] })[0].text;
        const third = portSources([{ file: "a.F90", text: again }], { targets: ["cpu"] })[0].text;
        if (again !== third) throw new Error(`a port to one core changes when it is ported again:\n${text}`);
        return { "fortran ported": 1 };
      },
      async close() {},
    };
  },
};
