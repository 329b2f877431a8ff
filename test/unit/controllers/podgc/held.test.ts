import { test } from 'vitest';
import type { OwnerRef } from '../../../../src/kube/cache/objects.ts';
import { finalizerHeld, owner } from '../../../builders.ts';
import { checkRow, type Row, aged, terminated } from './rows.ts';

const uncounted = { finalizers: ['batch.kubernetes.io/job-tracking'] } as const;
/** Pods that cannot be deleted now, of each kind. */
const stuck = [
  { reason: 'FinalizerHeld', over: finalizerHeld },
  { reason: 'JobUncounted', over: uncounted },
  { reason: 'JobUnfinished', over: { controller: owner('Job', 'running') } },
];
const ofGroup = (group: string, kind: string, version = 'v1'): OwnerRef => ({
  ...owner(kind, 'own'),
  apiVersion: `${group}/${version}`,
});

const rows: readonly Row[] = [
  ...stuck.map(({ reason, over }) => ({
    name: `${reason} pods of one namespace push out no pod of another, whatever the threshold`,
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
    name: `${reason} pods push out no other pod of their own namespace`,
    pods: [aged('x/1', 9, over), aged('x/2', 9, over), aged('x/a', 5), aged('x/b', 4), aged('y/c', 5)],
    policies: [terminated({ perNamespaceThreshold: 1, protectUnfinishedJobs: true })],
    deleted: ['a TerminatedInNamespace'],
    kept: [`1 ${reason}`, `2 ${reason}`, 'b UnderThreshold', 'c UnderThreshold'],
  })),
  {
    name: 'a Job of another API group is no Job: protectUnfinishedJobs does not hold its pods',
    pods: [
      aged('of-other', 9, { controller: ofGroup('jobs.example.com', 'Job') }),
      aged('of-old', 8, { controller: ofGroup('batch', 'Job', 'v2alpha1') }),
    ],
    policies: [terminated({ ttlAfterFinishedMs: 0, protectUnfinishedJobs: true })],
    deleted: ['of-other Expired'],
    kept: ['of-old JobUnfinished'],
  },
  {
    name: 'a ReplicaSet of another API group is an owner of its own, whatever its UID',
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
    name: 'owners of one UID in two namespaces are two owners',
    pods: [
      aged('shop/old', 9, { controller: owner('Job', 'j') }),
      aged('shop/new', 5, { controller: owner('Job', 'j') }),
      aged('tenant/newer', 1, { controller: owner('Job', 'j') }),
    ],
    policies: [terminated({ ttlAfterFinishedMs: 0, keepPerOwner: 1 })],
    deleted: ['old Expired'],
    kept: ['new KeptForOwner', 'newer KeptForOwner'],
  },
  {
    name: 'a pod that its Job has not counted is among the newest of its owner',
    pods: [
      aged('old', 9, { controller: owner('Job', 'j') }),
      aged('new', 5, { controller: owner('Job', 'j'), ...uncounted }),
    ],
    policies: [terminated({ ttlAfterFinishedMs: 0, keepPerOwner: 1 })],
    deleted: ['old Expired'],
    kept: ['new JobUncounted'],
  },
];

test.each(rows)('$name', checkRow);
