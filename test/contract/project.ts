import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** The servers that this vitest project runs the contract suites against. */
    readonly servers: 'sandbox' | 'real';
  }
}

export const isReal = inject('servers') === 'real';

/** Options of `vi.waitFor` for changes that a server makes soon. */
export const soon = { timeout: 60_000, interval: 50 };
