/** Whether the error is an abort. A timeout is not an abort but a failure. */
export const isAbort = (err: unknown): boolean => err instanceof Error && err.name === 'AbortError';

/** The code of an error of Node or the operating system, e.g. ENOENT; undefined for any other error. */
export function errorCode(err: unknown): string | undefined {
  return err instanceof Error && 'code' in err && typeof err.code === 'string' ? err.code : undefined;
}

/** The message of an error and of its causes, outermost first, in one line: `listing pods: connect ECONNREFUSED …`. */
export function errorLine(err: unknown): string {
  if (!(err instanceof Error)) return String(err);
  return err.cause === undefined ? err.message : `${err.message}: ${errorLine(err.cause)}`;
}

/** Two causes that differ only in a number, e.g. a duration, are the same. */
export const withoutNumbers = (line: string): string => line.replaceAll(/\d[\d.]*/g, '0');

const fileProblems: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EISDIR: 'is a directory',
  ENOTDIR: 'is not a directory',
  EACCES: 'cannot be read: permission denied',
};

/** Why a file cannot be read, to follow its name in a message: `is a directory`. */
export const fileProblem = (err: unknown): string =>
  fileProblems[errorCode(err) ?? ''] ?? `cannot be read: ${errorLine(err)}`;
