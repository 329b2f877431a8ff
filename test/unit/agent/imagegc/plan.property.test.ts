import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diskSignals, isInodes } from '../../../../src/api/node-pressure.ts';
import type { ImageGcFacts, ImageGcPlan } from '../../../../src/agent/imagegc/facts.ts';
import { planImageGc } from '../../../../src/agent/imagegc/plan.ts';
import type { ImageGcPolicy } from '../../../../src/api/policy/policy.ts';
import type { DiskSpace } from '../../../../src/node/disk/filesystem.ts';
import { minutesAgo, now } from '../../../builders.ts';
import { container, image } from '../../../fakes/runtime.ts';
import { worlds } from '../../../worlds.ts';
import { facts, governedBy, imageRule, nameOf, nodePod, verdicts } from './builders.ts';

const minute = 60_000;
const capacityBytes = 10_000;
const inodes = 1_000;
/** Some have the same path in different registries. */
const tags: Readonly<Record<string, string>> = {
  a: 'docker.io/library/web:latest',
  b: 'quay.io/web:latest',
  c: 'registry.example.com:5000/library/web:latest',
  d: 'docker.io/library/web:2',
  e: 'docker.io/team/app:1',
  f: 'quay.io/team/app:1',
};
const names = Object.keys(tags);
/** References in a pod's spec and the images that the runtime may use for them. */
const meant: Readonly<Record<string, readonly string[]>> = {
  web: ['a', 'b', 'c'],
  'library/web:latest': ['a', 'b', 'c'],
  'web:2': ['d'],
  'web:3': [],
  'team/app:1': ['e', 'f'],
  'docker.io/web': ['a'],
  'quay.io/web:latest': ['b'],
  'registry.example.com:5000/library/web': ['c'],
  'quay.io/team/app:1': ['f'],
  'ghcr.io/team/app:1': [],
};
const someNames = fc.subarray(names, { maxLength: 3 });
const orNone = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
const six = <T>(one: fc.Arbitrary<T>) => fc.array(one, { minLength: 6, maxLength: 6 });

/** Minutes; around the minimum age as often as far above. */
const age = fc.oneof(fc.integer({ min: -5, max: 4 }), fc.integer({ min: 5, max: 3000 }));

const node = fc.noBias(
  fc.record({
    used: someNames,
    mounted: someNames,
    /** A container reports neither an id nor a listed digest. */
    usesUnlisted: fc.boolean(),
    undigested: someNames,
    bound: fc.subarray(Object.keys(meant), { maxLength: 2 }),
    pinned: someNames,
    kept: someNames,
    ages: six(age),
    agesOfUse: six(orNone(age)),
    sizes: six(fc.integer({ min: 0, max: 1_000 })),
    availableBytes: fc.integer({ min: 0, max: 3_000 }),
    inodesFree: orNone(fc.integer({ min: 0, max: 300 })),
    inodesUsed: orNone(fc.integer({ min: 0, max: 1_200 })),
    highInodesPercent: orNone(fc.constantFrom(85, 90, 100)),
    maximumAgeMs: orNone(fc.integer({ min: 3 * minute, max: 3000 * minute })),
    maxImagesPerPass: orNone(fc.integer({ min: 1, max: 6 })),
    highThresholdPercent: fc.constantFrom(85, 90, 100),
    demands: fc.uniqueArray(
      fc.record({
        ...{ signal: fc.constantFrom(...diskSignals), threshold: fc.constant('15%') },
        wanted: fc.integer({ min: 1, max: 3_000 }),
      }),
      { maxLength: 2, selector: ({ signal }) => signal },
    ),
    /** Failed removals: milliseconds until they are tried again. */
    retriesInMs: six(fc.constantFrom(...Array.from({ length: 6 }, () => undefined), 0, 0, 0, 1)),
  }),
);
type Node = typeof node extends fc.Arbitrary<infer T> ? T : never;

const factsOf = (seen: Node, order: readonly string[] = names): ImageGcFacts =>
  facts(
    order.map((name) =>
      image(name, {
        ...{ tags: [tags[name] ?? ''], pinned: seen.pinned.includes(name) },
        digests: seen.undigested.includes(name) ? [] : [`example.com/${name}@sha256:${name}`],
        sizeBytes: sizeOf(seen, name),
      }),
    ),
    {
      containers: [
        ...seen.used.map((name) => container(`c-${name}`, { imageId: `sha256:${name}` })),
        ...(seen.usesUnlisted ? [container('c', { imageId: '', imageRef: 'sha256:unlisted' })] : []),
      ],
      mounted: seen.mounted.map((name) => `sha256:${name}`),
      pods: seen.bound.map((spec) => nodePod(`p-${spec}`, [spec])),
      disk: { capacityBytes, availableBytes: seen.availableBytes, ...inodesOf(seen) },
      records: Object.fromEntries(names.map((name, i) => [name, recordOf(seen, i)])),
      failedBefore: new Map(
        names.flatMap((name, i) => {
          const retryInMs = seen.retriesInMs[i];
          return retryInMs === undefined ? [] : [[`sha256:${name}`, { times: 1, retryInMs }]];
        }),
      ),
    },
  );

const inodesOf = ({ inodesFree, inodesUsed }: Node): Partial<DiskSpace> =>
  inodesFree === undefined ? {} : { inodes, inodesFree, inodesUsed };

const sizeOf = ({ sizes }: Node, name: string): number => sizes[names.indexOf(name)] ?? 0;

function recordOf({ ages, agesOfUse }: Node, i: number) {
  const [age = 0, ageOfUse] = [ages[i], agesOfUse[i]];
  const lastUsedMs = ageOfUse === undefined ? undefined : minutesAgo(ageOfUse);
  return { firstDetectedMs: minutesAgo(Math.max(age, ageOfUse ?? age)), lastUsedMs };
}

const ruleOf = ({
  kept,
  maximumAgeMs,
  maxImagesPerPass,
  highThresholdPercent,
  highInodesPercent: high,
}: Node): ImageGcPolicy =>
  imageRule({
    keep: kept.map((name) => tags[name] ?? ''),
    maximumAgeMs,
    maxImagesPerPass,
    highThresholdPercent,
    inodes: high === undefined ? undefined : { highThresholdPercent: high, lowThresholdPercent: 80 },
  });

/** Every image is on the remove list. */
const purging = (seen: Node): ImageGcPolicy => ({
  ...ruleOf(seen),
  remove: [{ image: '*', untilMs: minutesAgo(-1) }],
});

const planned = (seen: Node, from: ImageGcFacts = factsOf(seen), policy = ruleOf(seen)): ImageGcPlan =>
  planImageGc(from, { governance: governedBy(policy), now, demands: seen.demands });

/** A property of every node. */
const holds = (check: (seen: Node) => void) => (): void => fc.assert(fc.property(node, check), worlds);

test(
  'an image that is used, mounted, bound, pinned or on the keep list is never a candidate, whatever the remove list has',
  holds((seen) => {
    const bound = seen.bound.flatMap((spec) => meant[spec] ?? []);
    const perhapsUsed = seen.usesUnlisted ? seen.undigested : [];
    const held = new Set([
      ...[...seen.used, ...seen.mounted, ...perhapsUsed, ...bound, ...seen.pinned, ...seen.kept],
    ]);
    for (const { candidates } of [planned(seen), planned(seen, factsOf(seen), purging(seen))])
      expect(candidates.filter(({ target }) => held.has(nameOf(target)))).toEqual([]);
  }),
);

test(
  'an image younger than the minimum age is never a candidate, and none is while pods, their images or containers are unknown',
  holds((seen) => {
    const plans = [planned(seen), planned(seen, factsOf(seen), purging(seen))];
    for (const { target } of plans.flatMap(({ candidates }) => candidates))
      expect(target.record.firstDetectedMs).toBeLessThanOrEqual(now.getTime() - ruleOf(seen).minimumAgeMs);
    for (const what of ['pods', 'containers'] as const)
      expect(planned(seen, { ...factsOf(seen), [what]: undefined }, purging(seen)).candidates).toEqual([]);
    const pods = [nodePod('large', [], { images: undefined })];
    expect(planned(seen, { ...factsOf(seen), pods }).candidates).toEqual([]);
  }),
);

test(
  'a pass removes at most maxImagesPerPass images: by age only those too old, for space only as many as needed',
  holds((seen) => {
    const { removals, wantedBytes, wantedInodes, inodesOf: estimate } = planned(seen);
    const { maxImagesPerPass, maximumAgeMs } = ruleOf(seen);
    expect(removals.length).toBeLessThanOrEqual(maxImagesPerPass ?? names.length);
    for (const { target } of removals.filter(({ reason }) => reason === 'Age'))
      expect(target.record.lastUsedMs ?? target.record.firstDetectedMs).toBeLessThan(
        now.getTime() - (maximumAgeMs ?? Infinity),
      );
    const forSpace = removals
      .filter(({ reason }) => reason === 'Space')
      .map((one) => one.target.image.sizeBytes);
    if (!isCrossed(seen)) expect(forSpace).toEqual([]);
    const allButTheLast = forSpace.slice(0, -1).reduce((sum, bytes) => sum + bytes, 0);
    if (forSpace.length > 1)
      expect(allButTheLast < wantedBytes || estimate(allButTheLast) < wantedInodes).toBe(true);
  }),
);

test(
  'for node pressure a plan only adds removals, as many as needed, and knows what they leave',
  holds((seen) => {
    const lines = ({ removals }: ImageGcPlan) =>
      removals.map(({ target, reason }) => `${target.id} ${reason}`);
    const plan = planned(seen);
    const usual = lines(planned({ ...seen, demands: [] }));
    expect(lines(plan).slice(0, usual.length)).toEqual(usual);
    const { removals, candidates, reclaim, inodesOf } = plan;
    const freedBy = (count: number, signal: string): number => {
      const bytes = removals.slice(0, count).reduce((sum, { target }) => sum + target.image.sizeBytes, 0);
      return signal.endsWith('.inodesFree') ? inodesOf(bytes) : bytes;
    };
    for (const { signal, wanted } of seen.demands) {
      const last = removals.findLastIndex(({ reason }) => reason === signal);
      if (last >= 0) expect(freedBy(last, signal)).toBeLessThan(wanted);
      const isEnough = freedBy(removals.length, signal) >= wanted;
      expect(reclaim.get(signal) === 'Enough').toBe(isEnough);
      if (reclaim.get(signal) === 'Exhausted') expect(removals).toHaveLength(candidates.length);
    }
  }),
);

/** The plan `agoMs` after the first pass under the rules. */
const plannedAfter = (seen: Node, agoMs: number): ImageGcPlan => {
  const inForce = { rulesId: 'rules-default', since: new Date(now.getTime() - agoMs) };
  const rule = { ...ruleOf(seen), hold: { above: 1, forMs: 300_000 } };
  return planned(seen, { ...factsOf(seen), inForce }, rule);
};

test('new rules remove at most holdAbove images or half of the unused ones, or none before holdFor has passed', () => {
  const ago = fc.constantFrom(0, 299_999, 300_000);
  fc.assert(
    fc.property(node, ago, (seen, agoMs) => {
      const [usual, plan] = [planned(seen), plannedAfter(seen, agoMs)];
      const { due = 0, unused = 0 } = plan.selected ?? {};
      const isHeld = due > Math.max(1, unused / 2) && agoMs < 300_000;
      expect(plan.removals.map(({ target }) => target.id)).toEqual(
        isHeld ? [] : usual.removals.map(({ target }) => target.id),
      );
      const waiting = plan.kept.filter(({ reason }) => reason === 'Holding');
      expect(waiting).toHaveLength(isHeld ? due : 0);
      for (const { eligibleAt } of waiting)
        expect(eligibleAt?.getTime()).toBe(now.getTime() + 300_000 - agoMs);
      if (isHeld) expect([...plan.reclaim.values()].every((result) => result === 'MoreLeft')).toBe(true);
      expect(plan.removals.length + plan.kept.length).toBe(usual.removals.length + usual.kept.length);
    }),
    worlds,
  );
});

/** Whether the bytes or the inodes are at a high threshold. */
function isCrossed(seen: Node): boolean {
  const { highThresholdPercent: bytes, inodes: { highThresholdPercent = 100 } = {} } = ruleOf(seen);
  const usedPercent = (free: number, total: number): number => 100 - Math.floor((100 * free) / total);
  const { availableBytes, inodesFree = inodes } = seen;
  return (
    (bytes < 100 && usedPercent(availableBytes, capacityBytes) >= bytes) ||
    (highThresholdPercent < 100 && usedPercent(inodesFree, inodes) >= highThresholdPercent)
  );
}

/** By step of the plan: milliseconds until each candidate's failed removal is tried again; undefined = it has not failed. */
const retriesOf = (seen: Node): readonly (readonly (number | undefined)[])[] => {
  const { failedBefore } = factsOf(seen);
  const { candidates } = planned(seen);
  return [true, false].map((isAge) =>
    candidates
      .filter(({ reason }) => (reason === 'Age') === isAge)
      .map(({ target }) => failedBefore?.get(target.id)?.retryInMs),
  );
};
const hasFailed = (retryInMs: number | undefined): boolean => retryInMs !== undefined;

test(
  'images whose removal has failed are the last of their step, and no candidates during the pause',
  holds((seen) => {
    for (const retries of retriesOf(seen)) {
      const count = retries.filter(hasFailed).length;
      expect(retries.slice(retries.length - count)).toEqual(Array.from({ length: count }, () => 0));
    }
  }),
);

test('the order of the list does not matter, and each image has one decision', () => {
  const order = fc.shuffledSubarray(names, { minLength: names.length });
  fc.assert(
    fc.property(node, order, (seen, shuffled) => {
      const made = planned(seen, factsOf(seen, shuffled));
      expect(verdicts(made)).toEqual(verdicts(planned(seen)));
      const all = [...made.removals, ...made.kept].map(({ target }) => nameOf(target));
      expect(all.toSorted()).toEqual(names);
    }),
    worlds,
  );
});

test(
  'a second plan after an executed one without a limit removes nothing',
  holds((seen) => {
    const unlimited = { ...seen, maxImagesPerPass: undefined };
    const first = planned(unlimited);
    const gone = first.removals.map(({ target }) => nameOf(target));
    const freed = gone.reduce((sum, name) => sum + sizeOf(seen, name), 0);
    const left = names.filter((name) => !gone.includes(name));
    const { availableBytes, inodesFree } = seen;
    const demands = seen.demands.map(({ signal, threshold, wanted }) => ({
      ...{ signal, threshold },
      wanted: Math.max(0, wanted - (isInodes(signal) ? first.inodesOf(freed) : freed)),
    }));
    const after = {
      ...{ ...unlimited, demands, availableBytes: availableBytes + freed },
      inodesFree: inodesFree === undefined ? undefined : inodesFree + first.inodesOf(freed),
    };
    expect(verdicts(planned(after, factsOf(after, left))).removed).toEqual([]);
  }),
);

test('the random nodes include removals by age, for space and for inodes alone, holds and failures', () => {
  // Always the same ones: a share of random ones is below any bound once in a while.
  const nodes = fc.sample(node, { numRuns: worlds.numRuns, seed: 1 });
  const plans = nodes.map((seen) => planned(seen));
  const often = worlds.numRuns / 20;
  const reasons = plans.flatMap(({ removals }) => removals.map(({ reason }) => reason));
  const count = (reason: string): number => reasons.filter((one) => one === reason).length;
  for (const reason of ['Age', 'Space']) expect(count(reason)).toBeGreaterThan(2 * often);
  for (const signal of diskSignals) expect(count(signal)).toBeGreaterThan(often / 2);
  const ofInodes = plans.filter(
    ({ crossed, removals }) =>
      crossed.join() === 'inodes' && removals.some(({ reason }) => reason === 'Space'),
  );
  expect(ofInodes.length).toBeGreaterThan(often);
  const held = nodes
    .flatMap((seen) => plannedAfter(seen, 0).kept)
    .filter(({ reason }) => reason === 'Holding');
  expect(held.length).toBeGreaterThan(often);
  const late = nodes.flatMap(retriesOf).filter((retries) => retries.findIndex(hasFailed) > 0);
  expect(late.length).toBeGreaterThan(often / 2);
});
