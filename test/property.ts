/** Options of a test that tries hundreds of generated inputs: on a busy machine that takes longer than one example may. */
export const property = { timeout: 30_000 } as const;
