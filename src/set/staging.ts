import { backlog } from "../device/cpu/backlog.js";
import type { DeviceEvent, Queue } from "../device/device.js";
import { BYTES, stridesOf, View } from "../device/memory/view.js";
import type { LocalMember } from "./member.js";
import type { Message, Transport } from "./transport.js";

/** A message, with the way of its end in this process where that is in a device's memory. */
export interface StagedMessage extends Message {
  readonly stage?: MessageStage;
}

/** The end of a message in a device's memory. It passes through memory of the host, since messages go between host memories. */
export class MessageStage {
  /** The host's part: what is sent, or what comes. */
  readonly bytes: Uint8Array;
  private readonly host: View;
  /** The end of the last copy to the device, which reads the host's part. */
  private delivered: DeviceEvent | undefined;

  /** @param view an end in the memory of the member's device */
  constructor(
    private readonly view: View,
    private readonly member: LocalMember,
  ) {
    const { type, shape, size } = view;
    const memory = member.device.hostMemory!(size * BYTES[type]);
    this.host = new View(memory, type, shape, stridesOf(shape, "right"));
    this.bytes = new Uint8Array(memory.host!, Number(memory.address), size * BYTES[type]);
  }

  /** Begins to copy what is sent to the host, after everything in `origin`. Returns the queue that is to be waited for. */
  fetch(origin?: Queue): Queue {
    const queue = this.queueAfter(origin);
    queue.copy(this.view, this.host);
    return queue;
  }

  /** Makes the host's part ready to receive: the device has read what came before. */
  clear(): void {
    this.delivered?.block();
    this.delivered = undefined;
  }

  /** Copies what has come to the device, after everything in `origin`; what is submitted there later comes after it. */
  deliver(origin?: Queue): void {
    const queue = this.queueAfter(origin);
    queue.copy(this.host, this.view);
    this.delivered = queue.record();
    if (origin && origin !== queue) origin.wait(this.delivered);
  }

  /** Gives back the host's part, once the device has read it. */
  free(): void {
    this.clear();
    this.host.free();
  }

  private queueAfter(origin: Queue | undefined): Queue {
    const queue = this.member.queue(0);
    if (origin && origin !== queue) queue.wait(origin.record());
    return queue;
  }
}

/**
 * Begins messages. What devices send is fetched before, and the thread waits for it.
 * @param origin a queue after whose work it is fetched; without it devices are at rest
 */
export function postMessages(transport: Transport, messages: readonly StagedMessage[], origin?: Queue): void {
  const fetching = new Set<Queue>();
  for (const { stage, source } of messages)
    if (stage && source) fetching.add(stage.fetch(origin));
    else stage?.clear();
  for (const queue of fetching) queue.record().block();
  // Messages lie in memory that work on CPUs may still use.
  backlog.settle();
  transport.post(messages);
}

/** Brings messages that have arrived to the devices that they are for; `origin` as there. */
export function deliver(messages: readonly StagedMessage[], origin?: Queue): void {
  for (const { stage, target } of messages) if (target) stage?.deliver(origin);
}
