import type { Registry } from './registry.ts';
import type { Store } from './store.ts';

/** What requests act on. */
export interface World {
  readonly store: Store;
  readonly registry: Registry;
  readonly now: () => Date;
}

/** As metav1.Time is written: whole seconds. */
export function timestamp(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}
