import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { changelogProblems, notesOf, packedProblems, versionProblems, type ReleaseFiles } from "./checks.js";

/* `npm run release`: docs/release.md has the checklist. It checks and tags; it pushes and publishes nothing. */

const root = fileURLToPath(new URL("../../../", import.meta.url));
const HELP = `npm run release -- [--dry-run] [--tier=all]
Checks that this checkout can be released, and tags it. Nothing is pushed or published.
  --dry-run    check, and do not tag
  --tier=TIER  which tests to run: default, all or another tier; none skips them (default: all; none with --dry-run)`;

const { values } = parseArgs({ options: { "dry-run": { type: "boolean" }, tier: { type: "string" }, help: { type: "boolean" } } });
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
const dry = values["dry-run"] ?? false;
const tier = values.tier ?? (dry ? "none" : "all");

const text = (path: string): string => readFileSync(root + path, "utf8");

/** What a command prints. Throws where it fails. */
function output(command: string, ...words: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, words, { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${words.join(" ")} failed\n${stderr}`);
  return stdout.trim();
}
/** Runs a command that prints for itself; its problem where it fails. */
const passes = (command: string, ...words: string[]): string[] =>
  spawnSync(command, words, { cwd: root, stdio: "inherit" }).status === 0 ? [] : [`${command} ${words.join(" ")} fails`];

interface Packed {
  size: number;
  unpackedSize: number;
  files: { path: string }[];
}

const { version } = JSON.parse(text("package.json")) as { version: string };
const files: ReleaseFiles = {
  version,
  locked: (JSON.parse(text("package-lock.json")) as { version: string }).version,
  changelog: text("CHANGELOG.md"),
  citation: text("CITATION.cff"),
  tags: output("git", "tag").split("\n"),
};
const [packed] = Object.values(JSON.parse(output("npm", "pack", "--dry-run", "--ignore-scripts", "--json")) as Packed[]);

const checks: [title: string, problems: () => string[]][] = [
  ["clean tree", () => (output("git", "status", "--porcelain") === "" ? [] : ["files are changed or untracked; commit or remove them"])],
  ["version", () => versionProblems(files)],
  ["changelog", () => changelogProblems(files, dry)],
  [
    "package",
    () =>
      packedProblems(
        packed.files.map(({ path }) => path),
        (path) => existsSync(root + path),
      ),
  ],
  ["lint and format", () => [...passes("npm", "run", "--silent", "lint"), ...passes("npm", "run", "--silent", "format:check")]],
  ["fresh project", () => passes(".ci/fresh-project")],
  ["tests", () => (tier === "none" ? [] : passes("node", "dist/test/run.js", `--tier=${tier}`))],
];

const problems: string[] = [];
for (const [title, find] of checks) {
  const found = find();
  console.log(`${found.length === 0 ? (title === "tests" && tier === "none" ? "skip" : "ok  ") : "FAIL"} ${title}`);
  for (const problem of found) console.log(`     ${problem}`);
  problems.push(...found);
}
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
console.log(`${packed.files.length} files, ${megabytes(packed.size)} compressed, ${megabytes(packed.unpackedSize)} unpacked`);

if (problems.length > 0) {
  console.log(`isoform ${version} cannot be released yet: ${problems.length} problems, above`);
  process.exitCode = 1;
} else if (dry) console.log(`isoform ${version} can be released; nothing was tagged`);
else {
  output("git", "tag", "--annotate", `v${version}`, "--message", `Isoform ${version}\n\n${notesOf(files.changelog, version)}`);
  console.log(`tagged v${version}. To publish:\n  git push origin v${version}\n  npm publish`);
}
