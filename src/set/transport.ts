/** A message between two members of a set, at least one of them in this process. */
export interface Message {
  /** Members that send and receive, numbered over all processes, rank by rank. */
  readonly from: number;
  readonly to: number;
  /** Number within its program, the same on both sides and of this message alone. */
  readonly number: number;
  /** The most that it may have, where `leading` is there. */
  readonly bytes: number;
  /** The bytes at the begin of `source` that are sent, as they are when the message begins; absent on both sides, or there on both. Default: all. */
  readonly leading?: () => number;
  /** Name for errors: the field's. */
  readonly name: string;
  /** Memory that is sent, where `from` is in this process. It must not change until the message has arrived. */
  readonly source?: ArrayBufferView;
  /** Memory that receives, where `to` is in this process. */
  readonly target?: ArrayBufferView;
}

/** Carries messages between members in different processes. Every process posts the same programs in the same order. */
export interface Transport {
  /**
   * Begins to receive and send the messages of one submission of a program; a process without messages in it posts none, `[]`.
   * @param messages a list that is posted again is not checked again, and must be what it was
   * @throws LaunchError for a message that does not fit its memory or that has no end here
   */
  post(messages: readonly Message[]): void;
  /** Lets messages proceed, without waiting; true once everything posted has arrived. */
  test(): boolean;
  /**
   * Waits until everything posted has arrived, and what was sent may change again. If that takes longer than the set's patience, all
   * processes are ended with a message that names the ranks waited for.
   * @param where end of that message: `skeleton "cg", iteration 12`
   */
  arrived(where: string): Promise<void>;
  /** The same, for callers that cannot await: the thread waits. */
  waitNow(where: string): void;
}
