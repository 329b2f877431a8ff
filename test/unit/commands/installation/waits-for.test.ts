import { expect, test } from 'vitest';
import {
  isLed,
  waitsFor,
  type Controller,
  type Lease,
} from '../../../../src/evaluation/installation/facts.ts';
import { controller, lease, minutesAgo } from '../status/fixtures.ts';

const other: Lease = { ...lease, holder: 'second-controller-5f_1', holderNamespace: 'second' };

const outside: Lease = { ...other, holderNamespace: undefined };
const earlier: Lease = { ...lease, holder: 'dustpan-controller-0_9', holderNamespace: 'dustpan-system' };

/** The Lease of the cluster, whom the controller waits for, and its own Lease, if it is not that of the fixture. */
type Row = [Parameters<typeof waitsFor>[1], expected: string | undefined, own?: Controller['lease']];
const rows: Readonly<Record<string, Row>> = {
  'another release': [other, 'second/second-controller-5f'],
  'a process outside the cluster': [outside, 'second-controller-5f'],
  'this controller': [lease, undefined],
  'this controller, outside the cluster': [outside, undefined, other],
  'an earlier pod of this Deployment': [earlier, undefined],
  'a pod of that name in another namespace, while this one leads nothing': [
    { ...lease, holderNamespace: 'second' },
    'second/dustpan-controller-1',
    undefined,
  ],
  'another release that has ended': [{ ...other, renewedTime: minutesAgo(5) }, undefined],
  nobody: [{ ...other, holder: '' }, undefined],
  'nobody yet': [undefined, undefined],
  'somebody who may not be read': ['unknown', undefined],
};

test.each(Object.entries(rows))(
  'the Lease of the cluster is held by %s',
  (_, [cluster, expected, ...own]) => {
    const waiting = { ...controller, lease: own.length > 0 ? own[0] : lease };
    const found = waitsFor(waiting, cluster);
    expect(found).toBe(expected);
    if (waiting.lease !== undefined)
      expect(isLed({ ...waiting, waitsFor: found })).toBe(expected === undefined);
  },
);
