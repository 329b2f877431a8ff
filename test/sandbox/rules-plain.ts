import type { Rules } from './rules.ts';

/** A kind without rules of its own. */
export function plainRules({ generation }: { readonly generation: boolean }): Rules {
  return {
    generation,
    unconditionalUpdate: true,
    createOnUpdate: false,
    decode: () => undefined,
    admit: (object) => ({ object, causes: [] }),
    fields: () => ({}),
  };
}
