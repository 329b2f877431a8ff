/** A local copy of one resource, kept current by list and watch. */
export interface Store<T> {
  /** Every object known, keyed by UID. Replaced entries are new values; the map itself is live: read it synchronously. */
  readonly items: ReadonlyMap<string, T>;
  /** True after the first complete list. Stays true while the watch is being restored. */
  readonly synced: boolean;
}
