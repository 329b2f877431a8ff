const hourMs = 3_600_000;
const minuteMs = 60_000;
const secondMs = 1000;
const msPerUnit: Readonly<Record<string, number>> = { h: hourMs, m: minuteMs, s: secondMs, ms: 1 };

/** Go's time.Duration has at most 2^63 nanoseconds and refuses longer ones too. */
const longestMs = 9_223_372_036_854;
const form = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/;
const part = /([\d.]+)(ms|s|m|h)/g;

/** Milliseconds of a Go duration such as `1h30m` or `1.5s`; undefined for anything else, negative ones included. */
export function parseDuration(text: string): number | undefined {
  if (!form.test(text)) return undefined;
  const ms = durationMs(text);
  return ms <= longestMs ? ms : undefined;
}

/** Milliseconds of a valid Go duration. */
export function durationMs(text: string): number {
  const parts = [...text.matchAll(part)];
  return Math.round(
    parts.reduce((ms, [, amount, unit = '']) => ms + Number(amount) * Number(msPerUnit[unit]), 0),
  );
}

/** The shortest Go duration of these milliseconds: `1h30m`, `40s`, `1.5s`, `250ms`, `0s`. */
export function formatDuration(ms: number): string {
  if (ms > 0 && ms < secondMs) return `${ms}ms`;
  const hours = Math.floor(ms / hourMs);
  const minutes = Math.floor((ms % hourMs) / minuteMs);
  const seconds = (ms % minuteMs) / secondMs;
  const text = `${hours > 0 ? `${hours}h` : ''}${minutes > 0 ? `${minutes}m` : ''}${seconds > 0 ? `${seconds}s` : ''}`;
  return text === '' ? '0s' : text;
}
