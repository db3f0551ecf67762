import { LANGUAGES, type Language, type Program, type Reals } from "./messages.js";

/*
 * Programs in the address, behind `#playground?`: `fortran=` or `typescript=` and the text, deflated and in base64 for addresses; `rkind=f32`.
 */

/** The part of an address that shares a program. */
export async function addressOf({ language, text, reals }: Program): Promise<string> {
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  const packed = btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
  return `#playground?${language}=${packed}${reals === "declared" ? "" : `&rkind=${reals}`}`;
}

/** The program that an address shares; undefined where there is none that can be read. */
export async function programIn(address: string): Promise<Program | undefined> {
  const query = new URLSearchParams(address.split("?")[1]);
  const language = (Object.keys(LANGUAGES) as Language[]).find((name) => query.has(name));
  if (!language) return undefined;
  const reals: Reals = query.get("rkind") === "f32" ? "f32" : "declared";
  try {
    const packed = atob(query.get(language)!.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = await through(
      Uint8Array.from(packed, (letter) => letter.charCodeAt(0)),
      new DecompressionStream("deflate-raw"),
    );
    return { language, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), reals };
  } catch {
    return undefined;
  }
}

async function through(bytes: Uint8Array<ArrayBuffer>, stream: GenericTransformStream): Promise<Uint8Array> {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream as TransformStream)).arrayBuffer());
}
