/** What a trial did: cases by name, the subject's own among them. */
export type Counts = Readonly<Record<string, number>>;

/** A kind of trials. */
export interface Subject {
  readonly name: string;
  /** The share of the time that it gets, among the others. */
  readonly weight: number;
  /** Left out unless `--only` names it. */
  readonly onlyWhenNamed?: boolean;
  /** Seconds that a trial may take, where that is not the usual number. */
  readonly limitSeconds?: number;
  /** Why there are no trials on this machine. */
  missing?(): Promise<string | undefined>;
  open(): Promise<Trials>;
}

export interface Trials {
  /** One trial, decided by its seed. Throws where something is wrong with what is tried. */
  trial(seed: number): Promise<Counts>;
  close(): Promise<void>;
}
