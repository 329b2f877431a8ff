/** A reason, for any object. The reference, `why` and the rest of the documents are generated from it. */
export interface Meaning {
  /** Why dustpan removes or keeps an object, in general. */
  readonly meaning: string;
  /** The change that would reverse the verdict. */
  readonly change: string;
  /** A risk to consider before acting on the verdict. */
  readonly caution?: string;
}

/** The reason of one decision. */
export interface Why {
  /** One sentence with the values of the object. */
  readonly detail: string;
  /** The policy field or object label that decided, with its value; undefined = neither did. */
  readonly field?: string | undefined;
}
