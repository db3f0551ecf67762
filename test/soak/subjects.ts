import { cache } from "./cache.js";
import { files } from "./files.js";
import { fortran } from "./fortran.js";
import { KERNELS } from "./kernels.js";
import { fortranRoutines } from "./fortran-routines.js";
import { kills } from "./kills.js";
import { mutants } from "./mutants/mutants.js";
import { options } from "./options.js";
import { rankKills } from "./rank-kills.js";
import { ranks } from "./ranks.js";
import { skeletons } from "./skeletons.js";
import { sources } from "./sources.js";
import type { Subject } from "./subject.js";
import { workers } from "./workers.js";

export const SUBJECTS: readonly Subject[] = [
  ...KERNELS,
  skeletons,
  sources,
  fortran,
  fortranRoutines,
  files,
  options,
  cache,
  kills,
  ranks,
  rankKills,
  workers,
  mutants,
];
