import { expect, test } from 'vitest';
import {
  observeImages,
  recordAt,
  resumeState,
  repulls,
  lastRemoved,
  withoutImage,
  type Observation,
} from '../../../../src/agent/imagegc/records.ts';
import { emptyState, type AgentState } from '../../../../src/node/disk/state-format.ts';
import { minutesAgo, now } from '../../../builders.ts';
import { container, image } from '../../../fakes/runtime.ts';

const nowMs = now.getTime();
const hour = 3_600_000;

const stateOf = (
  records: Record<string, [number, number | undefined]>,
  removed: AgentState['removed'] = [],
): AgentState => ({
  images: new Map(
    Object.entries(records).map(([name, [firstDetectedMs, lastUsedMs]]) => [
      `sha256:${name}`,
      { firstDetectedMs, lastUsedMs },
    ]),
  ),
  removed,
});

const observe = (before: AgentState, over: Partial<Observation> = {}): ReturnType<typeof observeImages> =>
  observeImages(before, { images: [image('a')], containers: [], now, ...over });

const old = minutesAgo(600);
const recent = minutesAgo(5);

type Times = [firstDetectedMs: number, lastUsedMs: number | undefined];

test.each<[name: string, before: Times | undefined, over: Partial<Observation>, expected: Times]>([
  ['an image in use was used now', [old, undefined], { containers: [container('a')] }, [old, nowMs]],
  [
    'a mounted image was used now',
    [old, undefined],
    { mounted: ['docker.io/library/a:latest'] },
    [old, nowMs],
  ],
  ['a use in the future becomes now', [old, nowMs + hour], {}, [old, nowMs]],
  ['a detection in the future becomes now', [nowMs + hour, undefined], {}, [nowMs, undefined]],
  [
    'a jump of the clock moves the times',
    [old, recent],
    { jumpedMs: 180_000 },
    [old + 180_000, recent + 180_000],
  ],
  [
    'a jump moves no time past now, and makes no use',
    [old, undefined],
    { jumpedMs: 1000 * hour },
    [nowMs, undefined],
  ],
])('%s', (_, before, over, [firstDetectedMs, lastUsedMs]) => {
  const { images } = observe(before === undefined ? emptyState : stateOf({ a: before }), over).state;
  expect(images.get('sha256:a')).toEqual({ firstDetectedMs, lastUsedMs });
});

test('a hold does not end while no agent ran for more than an hour: the clock may have jumped', () => {
  const inForce = { rulesId: 'rules-u', since: new Date(minutesAgo(62)) };
  const resumed = resumeState({ ...stateOf({ a: [old, minutesAgo(61)] }), inForce }, now);
  expect(resumed.inForce).toEqual({ ...inForce, since: new Date(minutesAgo(1)) });
});

test('a state without images proves no time without an agent, and is unchanged', () => {
  const inForce = { rulesId: 'rules-u', since: new Date(minutesAgo(62)) };
  expect(resumeState({ ...emptyState, inForce }, now)).toEqual({ ...emptyState, inForce });
});

test('the time of a removal moves with a jump forward', () => {
  const removed = [{ digest: 'sha256:a', atMs: nowMs - 25 * hour }];
  expect(observe(stateOf({}, removed), { images: [], jumpedMs: 2 * hour }).state.removed).toEqual([
    { digest: 'sha256:a', atMs: nowMs - 23 * hour },
  ]);
});

const what = { name: 'docker.io/library/x:1', reason: 'Space', policy: 'default' };

test('the last ten removals are reported, newest first; what an older agent recorded is not', () => {
  let state: AgentState = { ...emptyState, removed: [{ digest: 'sha256:old', atMs: nowMs }] };
  expect(lastRemoved(undefined)).toEqual([]);
  expect(lastRemoved(state)).toEqual([]);
  for (let i = 0; i < 12; i++) state = withoutImage(state, `sha256:${i}`, what, now);
  const reported = lastRemoved(state);
  expect(reported.map(({ id }) => id)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2].map((i) => `sha256:${i}`));
  expect(reported[0]).toEqual({ id: 'sha256:11', ...what, time: '2026-01-15T12:00:00Z' });
  expect(lastRemoved(observe(state).state)).toEqual(reported);
  const nextDay = { now: new Date(nowMs + 25 * hour) };
  expect(lastRemoved(observe(state, nextDay).state)).toEqual([]);
});

test('a removal more than a day ago is dropped unless the image is listed again', () => {
  const removed = [
    { digest: 'sha256:a', atMs: nowMs - 25 * hour },
    { digest: 'sha256:b', atMs: nowMs - 24 * hour - 1 },
    { digest: 'sha256:c', atMs: nowMs - 24 * hour },
    { digest: 'sha256:d', atMs: nowMs + hour },
  ];
  expect(observe(stateOf({}, removed)).state.removed).toEqual([
    removed[0],
    removed[2],
    { digest: 'sha256:d', atMs: nowMs },
  ]);
});

test.each([
  ['24 h ago', 24 * hour, true],
  ['longer ago', 24 * hour + 1, false],
])('an image pulled now that was removed %s: %j', (_name, agoMs, expected) => {
  const removed = [{ digest: 'sha256:a', atMs: nowMs - agoMs }];
  expect(repulls(removed)(image('a'), recordAt(undefined, now))).toBe(expected);
  const { repulled } = observe(stateOf({}, removed));
  expect(repulled.map(({ id }) => id)).toEqual(expected ? ['sha256:a'] : []);
});

test.each(['sha256:d', 'docker.io/library/a@sha256:d'])(
  'a removed image is recognized by the digest %s',
  (digest) => {
    const images = [image('a', { digests: ['docker.io/library/a@sha256:d'] })];
    expect(observe(stateOf({}, [{ digest, atMs: recent }]), { images }).repulled).toHaveLength(1);
  },
);
