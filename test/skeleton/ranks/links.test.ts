import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { linksOf, MACHINES, parseLinks } from "../../../src/skeleton/ranks/links.js";

const LINK = { bandwidth: 25e9, latency: 5e-6, host: 1e-6 };

test("links are read from JSON as they are", () => {
  assert.deepEqual(parseLinks(JSON.stringify({ node: LINK, network: { ...LINK, host: 0 } }), "a.json"), {
    node: LINK,
    network: { ...LINK, host: 0 },
  });
});

test("every machine's links would be taken from a file", () => {
  for (const [name, links] of Object.entries(MACHINES)) assert.deepEqual(parseLinks(JSON.stringify(links), name), links);
});

test("bad links are refused with the key at fault", () => {
  for (const [text, message] of [
    ["{", /a\.json: not JSON: /],
    ["[]", /must hold an object with the keys device, node, network$/],
    ["{}", /a\.json: it has no link; give at least one of device, node, network$/],
    [JSON.stringify({ rack: LINK }), /unknown key "rack"; use device, node, network$/],
    [JSON.stringify({ node: 25e9 }), /"node" must be an object with bandwidth, latency, host$/],
    [JSON.stringify({ node: { ...LINK, speed: 1 } }), /"node" has an unknown key "speed"/],
    [JSON.stringify({ node: { bandwidth: 25e9, latency: 5e-6 } }), /"node" has no host, in seconds: 1 us is 1e-6$/],
    [JSON.stringify({ node: { ...LINK, latency: "5e-6" } }), /the latency of "node" must be a number, in seconds/],
    [
      JSON.stringify({ network: { ...LINK, bandwidth: 25 } }),
      /the bandwidth of "network" is 25; it is in bytes a second: 25 GB\/s is 25e9$/,
    ],
    [JSON.stringify({ network: { ...LINK, latency: 5 } }), /the latency of "network" is 5; it is in seconds: 5 us is 5e-6$/],
    [JSON.stringify({ network: { ...LINK, host: -1 } }), /the host of "network" is -1/],
  ] as const)
    assert.throws(() => parseLinks(text, "a.json"), message, text);
});

test("a name is a machine or else a file", async () => {
  assert.equal(await linksOf("hdr"), MACHINES.hdr);
  await assert.rejects(linksOf("myrinet"), /"myrinet" is neither a machine nor a file: name a file, or one of slingshot-11, /);
  const folder = mkdtempSync(join(tmpdir(), "isoform-links-"));
  try {
    const file = join(folder, "links.json");
    writeFileSync(file, JSON.stringify({ device: LINK }));
    assert.deepEqual(await linksOf(file), { device: LINK });
    await assert.rejects(linksOf(folder), /cannot read/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
