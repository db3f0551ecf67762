/** The module for a page, whose engine has tools that show it as text: in base64. */
export const listing = (bytes: Uint8Array): string => `wasm ${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}`;
