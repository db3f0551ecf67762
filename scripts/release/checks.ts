/* What must hold of a release's files: each check gives the problems that it finds, with the remedy. */

export interface ReleaseFiles {
  /** The version of package.json. */
  version: string;
  /** The version of package-lock.json. */
  locked: string;
  changelog: string;
  citation: string;
  /** Tags of the repository. */
  tags: readonly string[];
}

const SEMVER = /^(\d+)\.(\d+)\.(\d+)(?:-([\w.-]+))?$/;

/** Negative where version `a` comes before `b` by Semantic Versioning's first three numbers; of equal ones, a pre-release comes first. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => {
    const match = SEMVER.exec(version);
    if (!match) throw new Error(`"${version}" is no version such as 1.2.3 or 1.2.3-beta.1`);
    return match;
  });
  for (let n = 1; n <= 3; n++) if (left[n] !== right[n]) return Number(left[n]) - Number(right[n]);
  if (left[4] === right[4]) return 0;
  if (left[4] === undefined || right[4] === undefined) return left[4] === undefined ? 1 : -1;
  return left[4] < right[4] ? -1 : 1;
}

/** Problems of the version: it is well formed, the same everywhere, and comes after every release. */
export function versionProblems({ version, locked, citation, tags }: ReleaseFiles): string[] {
  if (!SEMVER.test(version)) return [`package.json has version "${version}"; write one such as 1.2.3`];
  const problems: string[] = [];
  if (locked !== version) problems.push(`package-lock.json has version ${locked}, package.json ${version}; run npm install`);
  const cited = /^version: (.*)$/m.exec(citation)?.[1];
  if (cited !== version) problems.push(`CITATION.cff has version ${cited ?? "none"}; write version: ${version}`);
  for (const tag of tags) {
    const released = tag.replace(/^v/, "");
    if (tag.startsWith("v") && SEMVER.test(released) && compareVersions(version, released) <= 0)
      problems.push(`${tag} is released already; raise the version with npm version --no-git-tag-version`);
  }
  return problems;
}

/** What CHANGELOG.md says of the version, without its heading; undefined where it has no such section. */
export function notesOf(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.startsWith(`${version} `) || text.startsWith(`${version}\n`));
  return section?.slice(section.indexOf("\n") + 1).trim();
}

/**
 * Problems of the changelog: the version has a section with something in it, and nothing is left under Unreleased. The section has a date;
 * until the release, where `dry`, it may have "unreleased" in its place.
 */
export function changelogProblems({ changelog, version }: ReleaseFiles, dry = false): string[] {
  const problems: string[] = [];
  const notes = notesOf(changelog, version);
  if (!notes) problems.push(`CHANGELOG.md says nothing of ${version}; head its section with "## ${version} - <year>-<month>-<day>"`);
  else if (!new RegExp(`^## ${version.replaceAll(".", "\\.")} - (\\d{4}-\\d\\d-\\d\\d${dry ? "|unreleased" : ""})$`, "m").test(changelog))
    problems.push(`CHANGELOG.md has no date for ${version}; head its section with "## ${version} - <year>-<month>-<day>"`);
  if (notesOf(changelog, "Unreleased")) problems.push(`CHANGELOG.md has changes under Unreleased; move them to ${version}`);
  return problems;
}

/** Problems of the files that would be packed: those of dist/ that no source made, left by an older build. */
export function packedProblems(packed: readonly string[], exists: (path: string) => boolean): string[] {
  const stale = packed.filter((path) => {
    const source = /^dist\/(.*?)(?:\.d\.ts|\.js)$/.exec(path)?.[1];
    return source !== undefined && !exists(`${source}.ts`);
  });
  return stale.length === 0 ? [] : [`dist/ has ${stale.length} files without a source, such as ${stale[0]}; remove dist/ and build`];
}
