import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

/*
 * The package has no source maps, as it has no TypeScript sources. `npm pack` takes the comments that point to maps out of dist/ before it packs
 * (`remove`), or tools would warn of each file, and puts them back afterwards (`restore`).
 */

const root = fileURLToPath(new URL("../../", import.meta.url));
const COMMENT = /\n?\/\/# sourceMappingURL=\S+\s*$/;

const [what] = process.argv.slice(2);
if (what !== "remove" && what !== "restore") throw new Error("give remove or restore");
for (const folder of ["dist/src", "dist/apps"])
  for (const name of readdirSync(root + folder, { recursive: true, encoding: "utf8" }).filter((file) => /\.c?js$/.test(file))) {
    const file = `${root}${folder}/${name}`;
    const text = readFileSync(file, "utf8");
    const bare = text.replace(COMMENT, "\n");
    const wanted = what === "remove" || !existsSync(`${file}.map`) ? bare : `${bare}//# sourceMappingURL=${basename(file)}.map`;
    if (wanted !== text) writeFileSync(file, wanted);
  }
