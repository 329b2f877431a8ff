/** Of the agent's loops that look at the node. */
export type PassLoop = 'containergc' | 'imagegc' | 'localstorage';
export const passLoops: readonly PassLoop[] = ['containergc', 'imagegc', 'localstorage'];

/** A pass that has ended, and what it took. */
export interface Pass {
  readonly loop: PassLoop;
  readonly seconds: number;
  readonly cpuMs: number;
}

/** When something happened, by Date.now(). */
export interface Window {
  readonly fromMs: number;
  readonly toMs: number;
}

/** CPU time of the process at one moment. */
export interface CpuSample {
  readonly atMs: number;
  readonly cpuSeconds: number;
}

export interface EndedPass extends Window {
  readonly loop: PassLoop;
}

type Metrics = ReadonlyMap<string, number>;

/** The latest pass of a loop when exactly one has ended between two scrapes. */
export function endedPass(loop: PassLoop, before: Metrics, after: Metrics): EndedPass | undefined {
  const of = (metrics: Metrics, name: string): number => metrics.get(`${name}{loop="${loop}"}`) ?? 0;
  const grown = (name: string): number => of(after, name) - of(before, name);
  if (grown('dustpan_loop_pass_duration_seconds_count') !== 1) return undefined;
  const toMs = of(after, 'dustpan_loop_last_success_timestamp_seconds') * 1_000;
  return { loop, toMs, fromMs: toMs - grown('dustpan_loop_pass_duration_seconds_sum') * 1_000 };
}

/** The report and the release of what was read follow at once. */
const aftermathMs = 150;

/** What each pass took that had the process for itself: no scrape, no other pass at the same time. */
export function costs(
  passes: readonly EndedPass[],
  samples: readonly CpuSample[],
  scrapes: readonly Window[],
): readonly Pass[] {
  const wide = passes.map((pass) => ({ ...pass, toMs: pass.toMs + aftermathMs }));
  const alone = wide.filter(
    (one) => ![...scrapes, ...wide].some((other) => other !== one && meet(one, other)),
  );
  return alone.flatMap((one) => {
    const used = cpuWithin(one, samples);
    if (used === undefined) return [];
    return { loop: one.loop, seconds: (one.toMs - aftermathMs - one.fromMs) / 1_000, cpuMs: used * 1_000 };
  });
}

const meet = (a: Window, b: Window): boolean => a.fromMs < b.toMs && b.fromMs < a.toMs;

function cpuWithin({ fromMs, toMs }: Window, samples: readonly CpuSample[]): number | undefined {
  const before = samples.findLast(({ atMs }) => atMs <= fromMs);
  const after = samples.find(({ atMs }) => atMs >= toMs);
  return before && after && after.cpuSeconds - before.cpuSeconds;
}
