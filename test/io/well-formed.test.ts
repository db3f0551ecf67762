import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { dense } from "../../src/domain/index.js";
import { drawing, svgText } from "../../src/draw/svg.js";
import { readImage, readRectilinear, readUnstructured, writeImage, writeRectilinear, writeUnstructured } from "../../src/io/index.js";
import { escape, textOf, unescape } from "../../src/io/xml.js";
import { f64 } from "../../src/kernel/declare/params.js";
import { skeleton } from "../../src/skeleton/index.js";
import { jsSet } from "../domain/sets.js";

/* Names that are no text of XML. */

const NAMES = [
  'a\u0000b\u000b<&>"',
  "\u001b]0;x\u0007",
  "half \ud800",
  "\ufffe\uffff",
  "a\tb\nc\rd",
  "\u0085\u007f",
  "]]>",
  "<!--",
  "&#0;",
  "é中𝒙",
];

const folder = mkdtempSync(join(tmpdir(), "isoform-xml-"));
after(() => rmSync(folder, { recursive: true }));

/** Fails where XML 1.0 has no such document: characters, references, attributes, and elements that end as they begin. */
function wellFormed(document: string): void {
  for (const character of document) {
    const code = character.codePointAt(0)!;
    const allowed =
      code === 9 || code === 10 || code === 13 || (code >= 0x20 && code <= 0xd7ff) || (code >= 0xe000 && code < 0xfffe) || code > 0xffff;
    assert.ok(allowed, `U+${code.toString(16)}`);
  }
  const open: string[] = [];
  const body = document.replace(/^<\?xml version="1\.0"\?>\n/, "");
  const rest = body.replace(/<(\/?)([\w:]+)((?: [\w:-]+="(?:[^<&"]|&#?\w+;)*")*)(\/?)>/g, (_, closing, tag, _attributes, empty) => {
    if (closing) assert.equal(open.pop(), tag);
    else if (!empty) open.push(tag);
    return "";
  });
  assert.deepEqual(open, []);
  assert.doesNotMatch(rest.replace(/&(amp|lt|gt|quot|#\d+);/g, ""), /[<&]|]]>/);
  assert.doesNotMatch(document, /&#0*([0-8]|1[124-9]|2\d|3[01]);/);
}

it("is found where it is not", () => {
  for (const bad of [
    "<a>\u0000</a>",
    "<a>",
    "<a><b></a></b>",
    '<a b="<"/>',
    "<a>&</a>",
    "<a>&#0;</a>",
    "<a>\ufffe</a>",
    "<a>]]></a>",
    '<a b=">"c="d"/>',
  ])
    assert.throws(() => wellFormed(bad), bad);
  wellFormed('<a b="1 &lt; 2"><c/>text &#10;</a>\n');
});

it("files of fields", async () => {
  for (const name of NAMES) {
    const grid = dense(jsSet(1), [2, 2]);
    const fields = [grid.field(name, f64)] as const;
    fields[0].fill((x, y) => x + 2 * y);
    const [image, mesh, box] = [join(folder, "image.vti"), join(folder, "mesh.vtu"), join(folder, "box.vtr")];
    await writeImage(image, fields, { encoding: "inline" });
    await writeUnstructured(mesh, fields, { encoding: "inline" });
    await writeRectilinear(box, fields, {
      encoding: "inline",
      faces: [
        [0, 1, 3],
        [-1, 0, 0.5],
      ],
    });
    wellFormed(readFileSync(box, "utf8"));
    assert.deepEqual([...(await readRectilinear(box)).cellData.get(unescape(escape(name)))!.data], [0, 1, 2, 3]);
    wellFormed(readFileSync(image, "utf8"));
    wellFormed(readFileSync(mesh, "utf8"));
    const shown = unescape(escape(name));
    assert.deepEqual([...(await readImage(image)).cellData.get(shown)!.data], [0, 1, 2, 3]);
    assert.equal((await readUnstructured(mesh)).cellData.get(shown)!.data.length, 4);
    grid.free();
  }
});

it("names that XML can have come back as they were", () => {
  for (const name of NAMES.slice(4)) if (!name.includes("\u0085")) assert.equal(unescape(escape(name)), name);
});

it("elements and drawings", async () => {
  for (const name of NAMES) {
    wellFormed(textOf({ tag: "Grid", attributes: { Name: name }, children: [{ tag: "DataItem", text: name }] }));
    wellFormed(drawing(10, 10, name, name, svgText(1, 1, name)));
    const grid = dense(jsSet(2), [4, 4]);
    const u = grid.field("u", f64);
    const step = grid.container(name, { u }, ({ u }, c) => {
      u[c] = 1;
    });
    wellFormed(await skeleton(grid.set, name, [step]).explain("svg"));
    grid.free();
  }
});
