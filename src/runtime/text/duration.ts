const dayMs = 86_400_000;
const hourMs = 3_600_000;
const minuteMs = 60_000;
const secondMs = 1000;
const msPerUnit: Readonly<Record<string, number>> = {
  w: 7 * dayMs,
  d: dayMs,
  h: hourMs,
  m: minuteMs,
  s: secondMs,
  ms: 1,
};

/** Go's time.Duration has at most 2^63 nanoseconds and refuses longer ones too. */
const longestMs = 9_223_372_036_854;
const form = /^(?=.)(?:\d+w)?(?:\d+d)?(?:\d+(?:\.\d+)?(?:ms|[smh]))*$/;
const part = /([\d.]+)(ms|[wdhms])/g;

/** Milliseconds of a Go duration such as `1h30m` or `1.5s`, with weeks and days before it, such as `1d12h`; undefined for anything else, such as a negative one. */
export function parseDuration(text: string): number | undefined {
  if (!form.test(text)) return undefined;
  const ms = durationMs(text);
  return ms <= longestMs ? ms : undefined;
}

export function durationMs(text: string): number {
  const parts = [...text.matchAll(part)];
  return Math.round(
    parts.reduce((ms, [, amount, unit = '']) => ms + Number(amount) * Number(msPerUnit[unit]), 0),
  );
}

/** Spaces are left out. A month and a minute are both M. */
const miswritten =
  /^(\d+(ms|[wdhms]))*\d+(ms|[wdhms]|[Ww]eeks?|[Dd]ays?|[Hh](ou)?rs?|[Mm]in(ute)?s?|[Ss]ec(ond)?s?|[WDHS])$/;

/** The end of a message about a text that is no duration: ` (write 7d)` for `7 days`, or ''. The rule in crds/ gives the same. */
export function durationHint(text: string, sign = ''): string {
  const whole = text.replaceAll(' ', '');
  if (!/[ A-Z]|[a-z]{3}/.test(text) || !miswritten.test(whole)) return '';
  const corrected = String(/^(\d+(ms|[A-Za-z]))+/.exec(whole)?.[0]).toLowerCase();
  return form.test(corrected) ? ` (write ${sign}${corrected})` : '';
}

/** The duration as most people write it: whole days from two on, as `7d`; else `24h`, `1h30m`, `40s`, `1.5s`, `250ms`, `0s`. */
export function formatDuration(ms: number): string {
  if (ms >= 2 * dayMs && ms % dayMs === 0) return `${ms / dayMs}d`;
  if (ms > 0 && ms < secondMs) return `${ms}ms`;
  const hours = Math.floor(ms / hourMs);
  const minutes = Math.floor((ms % hourMs) / minuteMs);
  const seconds = (ms % minuteMs) / secondMs;
  const text = `${hours > 0 ? `${hours}h` : ''}${minutes > 0 ? `${minutes}m` : ''}${seconds > 0 ? `${seconds}s` : ''}`;
  return text === '' ? '0s' : text;
}
