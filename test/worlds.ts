/** How many random worlds each property of a plan is tried on; all of them together are more than 10 000 (test/unit/docs/reliability.test.ts counts). */
export const worlds = { numRuns: 500 } as const;
