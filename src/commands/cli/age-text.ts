const spans = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'm', ms: 60_000 },
] as const;

/** How long ago, in the largest unit that is full: `3m`. A clock that is behind gives 0. */
export function ageText(time: string | null, now: Date): string {
  const at = Date.parse(time ?? '');
  if (Number.isNaN(at)) return '-';
  const ms = Math.max(0, now.getTime() - at);
  const span = spans.find((one) => ms >= one.ms);
  return span === undefined ? `${Math.floor(ms / 1000)}s` : `${Math.floor(ms / span.ms)}${span.name}`;
}
