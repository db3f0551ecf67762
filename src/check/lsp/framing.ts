/* Messages of the language server protocol: JSON after a header that tells its length in bytes. */

/** A request, an answer or a notification. */
export interface LspMessage {
  readonly jsonrpc: "2.0";
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

export function framed(message: LspMessage): string {
  const text = JSON.stringify(message);
  return `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

/** Takes bytes as they come, and gives whole messages. */
export class MessageReader {
  private bytes = Buffer.alloc(0);

  /** Messages that are whole with these bytes; undefined in place of one that is not JSON. */
  take(more: Buffer): (LspMessage | undefined)[] {
    this.bytes = Buffer.concat([this.bytes, more]);
    const found: (LspMessage | undefined)[] = [];
    for (;;) {
      const end = this.bytes.indexOf("\r\n\r\n");
      if (end < 0) return found;
      const length = Number(/^Content-Length: *(\d+)/im.exec(this.bytes.toString("latin1", 0, end))?.[1] ?? 0);
      if (this.bytes.length < end + 4 + length) return found;
      found.push(messageIn(this.bytes.toString("utf8", end + 4, end + 4 + length)));
      this.bytes = this.bytes.subarray(end + 4 + length);
    }
  }
}

function messageIn(text: string): LspMessage | undefined {
  try {
    const message = JSON.parse(text) as unknown;
    return typeof message === "object" && message !== null ? (message as LspMessage) : undefined;
  } catch {
    return undefined;
  }
}
