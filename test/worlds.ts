/** How many random worlds each property of a plan is tried on. */
export const worlds = { numRuns: 500 } as const;
