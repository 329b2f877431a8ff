import { test } from 'vitest';
import { minutesAgo, pod } from '../../../builders.ts';
import { checkRow, type Row, aged, evicted, terminated } from './rows.ts';

const ttl: readonly Row[] = [
  {
    name: 'ttl counts from the finish, including its last millisecond',
    pods: [
      pod('due', { createdAtMs: 0, finishedAtMs: minutesAgo(60) }),
      pod('soon', { createdAtMs: 0, finishedAtMs: minutesAgo(60) + 1 }),
    ],
    policies: [terminated({ ttlAfterFinishedMs: 3_600_000 })],
    deleted: ['due Expired'],
    kept: ['soon TooYoung 12:00:00'],
  },
  {
    name: 'ttlByReason: the first match wins over ttlAfterFinished',
    pods: [
      aged('evicted', 90, evicted),
      aged('shutdown', 9, {
        ...{ phase: 'Failed', reason: 'Terminated', message: 'Pod was terminated: node shutdown.' },
      }),
      aged('plain', 90),
      aged('failed', 9, { phase: 'Failed' }),
    ],
    policies: [
      terminated({
        ttlAfterFinishedMs: 2 * 3_600_000,
        ttlByReason: [
          { phase: 'Failed', reason: 'Evicted', messagePattern: undefined, ttlMs: 3_600_000 },
          { phase: undefined, reason: undefined, messagePattern: '*node shutdown*', ttlMs: 0 },
          { phase: 'Failed', reason: undefined, messagePattern: undefined, ttlMs: 600_000 },
        ],
      }),
    ],
    deleted: ['evicted Expired', 'shutdown Expired'],
    kept: ['plain TooYoung 12:30:00', 'failed TooYoung 12:01:00'],
  },
];

const honoring = (over: Parameters<typeof terminated>[0] = {}): ReturnType<typeof terminated> =>
  terminated({ threshold: 0, honorTTLAnnotation: true, ...over });
const annotated = (ttlAnnotation: string, over: Parameters<typeof aged>[2] = {}): ReturnType<typeof aged> =>
  aged('x', 60, { ttlAnnotation, ...over });
const hour = 3_600_000;

const annotations: readonly Row[] = [
  {
    name: 'an annotation shortens the ttl of the policy',
    pods: [annotated('30m')],
    policies: [honoring({ ttlAfterFinishedMs: 2 * hour })],
    deleted: ['x Expired'],
  },
  {
    name: 'an annotation shortens the ttl of a rule',
    pods: [annotated('30m', evicted)],
    policies: [
      honoring({
        ttlByReason: [{ phase: 'Failed', reason: undefined, messagePattern: undefined, ttlMs: 2 * hour }],
      }),
    ],
    deleted: ['x Expired'],
  },
  {
    name: 'an annotation never lengthens a ttl',
    pods: [annotated('48h')],
    policies: [honoring({ ttlAfterFinishedMs: hour })],
    deleted: ['x Expired'],
  },
  {
    name: 'an annotation alone sets a ttl: from the finish, including its last millisecond',
    pods: [annotated('1h'), aged('y', 60, { ttlAnnotation: '1h0.001s' })],
    policies: [honoring()],
    deleted: ['x Expired'],
    kept: ['y TooYoung 12:00:00'],
  },
  {
    name: 'an annotation of 0s deletes at once',
    pods: [aged('x', 0, { ttlAnnotation: '0s' })],
    policies: [honoring()],
    deleted: ['x Expired'],
  },
  {
    name: 'without honorTTLAnnotation an annotation changes nothing',
    pods: [annotated('0s')],
    policies: [terminated({ threshold: 0 })],
    deleted: [],
    kept: ['x UnderThreshold'],
  },
  ...['', '10', 'soon', '-5m', '1d', '10 m', ' 10m', '1h,', '1e3s', '87601h', `${'0'.repeat(32)}1s`].map(
    (value) => ({
      name: `an annotation ${JSON.stringify(value)} is ignored`,
      pods: [annotated(value), aged('y', 60)],
      policies: [honoring({ ttlAfterFinishedMs: 2 * hour })],
      deleted: [],
      kept: ['x TooYoung 13:00:00', 'y TooYoung 13:00:00'],
    }),
  ),
  ...['87600h', '1.5h', '90000ms', '1h30m'].map((value) => ({
    name: `an annotation ${value} is read`,
    pods: [aged('x', 100 * 365 * 24 * 60, { ttlAnnotation: value })],
    policies: [honoring()],
    deleted: ['x Expired'],
  })),
  {
    name: 'an annotation of more than ten years sets no ttl',
    pods: [aged('x', 100 * 365 * 24 * 60, { ttlAnnotation: '87601h' })],
    policies: [honoring()],
    deleted: [],
    kept: ['x UnderThreshold'],
  },
  {
    name: 'an annotation does not save a pod from the threshold',
    pods: [annotated('48h'), aged('y', 1)],
    policies: [honoring({ threshold: 1 })],
    deleted: ['x Terminated'],
  },
];

test.each(ttl)('$name', checkRow);
test.each(annotations)('$name', checkRow);
