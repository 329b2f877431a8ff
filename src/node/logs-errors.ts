/** The errno of a failed system call, e.g. ENOENT; undefined for any other error. */
export function errnoOf(err: unknown): string | undefined {
  if (!(err instanceof Error) || !('code' in err)) return undefined;
  return typeof err.code === 'string' ? err.code : undefined;
}
