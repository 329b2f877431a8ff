export type StoredStatuses = Iterable<{ readonly name: string; readonly status: unknown }>;

/** What the stored statuses of policies report, by the name of the policy; `read` returns undefined for a status without it. */
export const reportedBy = <T>(
  policies: StoredStatuses,
  read: (status: unknown) => T | undefined,
): ReadonlyMap<string, T> =>
  new Map(
    [...policies].flatMap(({ name, status }) => {
      const found = read(status);
      return found === undefined ? [] : [[name, found]];
    }),
  );
