import { test } from 'vitest';
import type { OwnerRef } from '../../../../src/kube/cache/objects.ts';
import { finalizerHeld, owner } from '../../../builders.ts';
import { checkRow, type Row, aged, terminated } from './rows.ts';

const uncounted = { finalizers: ['batch.kubernetes.io/job-tracking'] } as const;
/** Why a pod cannot be deleted now. */
const stuck = [
  { reason: 'FinalizerHeld', over: finalizerHeld },
  { reason: 'JobUncounted', over: uncounted },
  { reason: 'JobUnfinished', over: { controller: owner('Job', 'running') } },
];
const job = owner('Job', 'j');
const ofGroup = (group: string, kind: string, version = 'v1'): OwnerRef => ({
  ...owner(kind, 'own'),
  apiVersion: `${group}/${version}`,
});

const rows: readonly Row[] = [
  ...stuck.map(({ reason, over }) => ({
    name: `${reason} pods of one namespace cause no deletion in another, by either threshold`,
    pods: [
      aged('tenant/1', 9, over),
      aged('tenant/2', 1, over),
      aged('tenant/3', 1, over),
      aged('shop/a', 5),
      aged('shop/b', 4),
    ],
    policies: [terminated({ threshold: 2, perNamespaceThreshold: 2, protectUnfinishedJobs: true })],
    deleted: [],
    kept: [`1 ${reason}`, `2 ${reason}`, `3 ${reason}`, 'a UnderThreshold', 'b UnderThreshold'],
  })),
  ...stuck.map(({ reason, over }) => ({
    name: `${reason} pods cause no deletion of other pods in their own namespace`,
    pods: [aged('x/1', 9, over), aged('x/2', 9, over), aged('x/a', 5), aged('x/b', 4), aged('y/c', 5)],
    policies: [terminated({ perNamespaceThreshold: 1, protectUnfinishedJobs: true })],
    deleted: ['a TerminatedInNamespace'],
    kept: [`1 ${reason}`, `2 ${reason}`, 'b UnderThreshold', 'c UnderThreshold'],
  })),
  {
    name: 'protectUnfinishedJobs ignores a kind Job of another API group',
    pods: [
      aged('of-other', 9, { controller: ofGroup('jobs.example.com', 'Job') }),
      aged('of-old', 8, { controller: ofGroup('batch', 'Job', 'v2alpha1') }),
    ],
    policies: [terminated({ ttlAfterFinishedMs: 0, protectUnfinishedJobs: true })],
    deleted: ['of-other Expired'],
    kept: ['of-old JobUnfinished'],
  },
  {
    name: 'a kind ReplicaSet of another API group is an owner of its own, whatever its UID',
    pods: [
      aged('of-set', 9, { controller: owner('ReplicaSet', 'r') }),
      aged('of-other', 5, {
        controller: { ...ofGroup('sets.example.com', 'ReplicaSet'), uid: 'uid-ReplicaSet-r' },
      }),
    ],
    replicaSetOwners: new Map([['uid-ReplicaSet-r', owner('Deployment', 'web')]]),
    policies: [terminated({ ttlAfterFinishedMs: 0, keepPerOwner: 1 })],
    deleted: [],
    kept: ['of-set KeptForOwner', 'of-other KeptForOwner'],
  },
  {
    name: 'owners with one UID in two namespaces are two owners',
    pods: [
      aged('shop/old', 9, { controller: job }),
      aged('shop/new', 5, { controller: job }),
      aged('tenant/newer', 1, { controller: job }),
    ],
    policies: [terminated({ ttlAfterFinishedMs: 0, keepPerOwner: 1 })],
    deleted: ['old Expired'],
    kept: ['new KeptForOwner', 'newer KeptForOwner'],
  },
  {
    name: 'a pod that its Job has not counted can be the newest of its owner',
    pods: [aged('old', 9, { controller: job }), aged('new', 5, { controller: job, ...uncounted })],
    policies: [terminated({ ttlAfterFinishedMs: 0, keepPerOwner: 1 })],
    deleted: ['old Expired'],
    kept: ['new JobUncounted'],
  },
];

test.each(rows)('$name', checkRow);
