import { badRequest } from './failure.ts';

const layout = '2006-01-02T15:04:05.000000Z07:00';
const seconds = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/;
const rest = /^\.\d{6}(Z|[+-]\d{2}:\d{2})$/;

/** Throws unless a MicroTime has exactly six fractional digits, in the words of Go's time package. */
export function checkMicroTime(kind: string, value: unknown): void {
  const problem = microTimeProblem(value);
  if (problem === undefined) return;
  throw badRequest(`${kind} in version "v1" cannot be handled as a ${kind}: ${problem}`);
}

function microTimeProblem(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') return 'json: cannot unmarshal into Go value of type string';
  const start = seconds.exec(value)?.[0];
  if (start === undefined) return `parsing time "${value}" as "${layout}": cannot parse "${value}" as "2006"`;
  const end = value.slice(start.length);
  return rest.test(end)
    ? undefined
    : `parsing time "${value}" as "${layout}": cannot parse "${end}" as ".000000"`;
}
