import { expect, test } from 'vitest';
import {
  isLed,
  waitsFor,
  type Controller,
  type Lease,
} from '../../../../src/evaluation/installation/facts.ts';
import { controller, lease, minutesAgo } from '../status/fixtures.ts';

const other: Lease = { ...lease, holder: 'second-controller-5f_1', holderNamespace: 'second' };

test.each<{
  readonly name: string;
  readonly cluster: Parameters<typeof waitsFor>[1];
  readonly own?: Controller['lease'];
  readonly expected: string | undefined;
}>([
  { name: 'another release', cluster: other, expected: 'second/second-controller-5f' },
  {
    name: 'a process outside the cluster',
    cluster: { ...other, holderNamespace: undefined },
    expected: 'second-controller-5f',
  },
  { name: 'this controller', cluster: lease, expected: undefined },
  {
    name: 'this controller, outside the cluster',
    cluster: { ...other, holderNamespace: undefined },
    own: other,
    expected: undefined,
  },
  {
    name: 'an earlier pod of this Deployment',
    cluster: { ...lease, holder: 'dustpan-controller-0_9', holderNamespace: 'dustpan-system' },
    expected: undefined,
  },
  {
    name: 'a pod of that name in another namespace, while this one leads nothing',
    cluster: { ...lease, holderNamespace: 'second' },
    own: undefined,
    expected: 'second/dustpan-controller-1',
  },
  {
    name: 'another release that has ended',
    cluster: { ...other, renewedTime: minutesAgo(5) },
    expected: undefined,
  },
  { name: 'nobody', cluster: { ...other, holder: '' }, expected: undefined },
  { name: 'nobody yet', cluster: undefined, expected: undefined },
  { name: 'somebody who may not be read', cluster: 'unknown', expected: undefined },
])('the Lease of the cluster is held by $name: it waits for $expected', ({ cluster, expected, ...over }) => {
  const one = { ...controller, lease: 'own' in over ? over.own : lease };
  const found = waitsFor(one, cluster);
  expect(found).toBe(expected);
  if (one.lease !== undefined) expect(isLed({ ...one, waitsFor: found })).toBe(expected === undefined);
});
