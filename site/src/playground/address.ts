import { LANGUAGES, type Language, type VisitorProgram, type Reals } from "./messages.js";

/*
 * Programs in the address, after `#playground?`: `fortran=` or `typescript=` and the text, deflated and in base64 for addresses; `rkind=f32`;
 * `device=` and the one that it runs on.
 */

/** Bytes of a program that are taken from an address: deflated, few may become many. */
const MOST = 1_000_000;

/** The part of an address that shares a program, and the device that it runs on. */
export async function pageAddress({ language, text, reals }: VisitorProgram, device: string): Promise<string> {
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream("deflate"));
  const packed = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
  return `#playground?${language}=${packed}${reals === "declared" ? "" : `&rkind=${reals}`}&device=${device}`;
}

/** The program that an address shares; undefined if it names none, "unreadable" where it is damaged. */
export async function programIn(address: string): Promise<VisitorProgram | "unreadable" | undefined> {
  const query = new URLSearchParams(address.split("?")[1]);
  const language = (Object.keys(LANGUAGES) as Language[]).find((name) => query.has(name));
  if (!language) return [...query.keys()].some((key) => key !== "device") ? "unreadable" : undefined;
  const reals: Reals = query.get("rkind") === "f32" ? "f32" : "declared";
  try {
    const packed = atob(query.get(language)!.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = await through(
      Uint8Array.from(packed, (letter) => letter.charCodeAt(0)),
      new DecompressionStream("deflate"),
    );
    return { language, text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), reals };
  } catch {
    return "unreadable";
  }
}

async function through(bytes: Uint8Array<ArrayBuffer>, stream: GenericTransformStream): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const reader = new Blob([bytes])
    .stream()
    .pipeThrough(stream as TransformStream<Uint8Array, Uint8Array<ArrayBuffer>>)
    .getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    size += next.value.length;
    if (size > MOST) throw new RangeError(`more than ${MOST} bytes`);
    parts.push(next.value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
