import type { Scrape } from './scrape.ts';

/**
 * How old the oldest answered change was that a pass did not see, for each pass in milliseconds: the marks were answered at these times
 * and a pass counts those it sees. The time a pass itself took is in it.
 */
export function behindMs(
  scrapes: readonly Pick<Scrape, 'passAtMs' | 'keepMarked'>[],
  markedAtMs: readonly number[],
): number[] {
  return scrapes.flatMap(({ passAtMs, keepMarked }, i) => {
    const before = scrapes[i - 1];
    // One pass is scraped many times.
    if (before === undefined || before.passAtMs === passAtMs) return [];
    const unseenAtMs = markedAtMs[keepMarked] ?? Infinity;
    return [Math.max(0, passAtMs - unseenAtMs)];
  });
}
