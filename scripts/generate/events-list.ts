import { containerGcFailed, logTooLarge } from '../../src/agent/containergc/events.ts';
import {
  freeDiskSpaceFailed,
  holding as holdingImages,
  imageGcFailed,
  invalidDiskCapacity,
  shortMessage,
} from '../../src/agent/imagegc/events.ts';
import { orphansFound } from '../../src/agent/report/events.ts';
import { localStorageHigh } from '../../src/agent/localstorage/events.ts';
import { nodePressureAhead } from '../../src/agent/nodepressure/events.ts';
import {
  evicted,
  evictionBlocked,
  evictionsInVain,
  evictionsSlowed,
  exceededGracePeriod,
} from '../../src/controllers/eviction/events.ts';
import {
  backlogCollected,
  CollectedByOwner,
  finalizerHeld,
  holding,
  podsCollected,
  tripped,
} from '../../src/controllers/podgc/events.ts';
import { invalidPolicy } from '../../src/controllers/policystatus/events.ts';
import { leadershipChanged } from '../../src/kube/lease/lease.ts';
import type { EventSpec } from '../../src/kube/events/recorder.ts';
import {
  deletions,
  eviction,
  evictionOverdue,
  evictionPod,
  heldDeletion,
  heldImages,
  largeLog,
  lease,
  nodeObject,
  orphanedResources,
  podHeld,
  pressureAhead,
  pressureEviction,
  sampleShortage,
  slowedOwner,
  storageWarning,
  sweep,
  trippedBreaker,
  unreadable,
} from './events-samples.ts';

const gibibyte = 1024 ** 3;

/** One kind of Event: samples, and facts that only its callers know. */
export interface EventKind {
  /** The file and the name of the function that creates it. */
  readonly file: string;
  readonly factory: string;
  readonly component: 'controller' | 'agent';
  readonly samples: readonly EventSpec[];
  readonly regarding: string;
  /** When it is recorded and how often. */
  readonly when: string;
  readonly upstream: string;
}

const podgc = { component: 'controller', file: 'src/controllers/podgc/events.ts' } as const;
const evictions = { component: 'controller', file: 'src/controllers/eviction/events.ts' } as const;
const imagegc = { component: 'agent', file: 'src/agent/imagegc/events.ts', regarding: 'the Node' } as const;

const collected = new CollectedByOwner(new Map());
for (const deletion of deletions) collected.add(deletion);

/** Every Event of dustpan. */
export const eventKinds: readonly EventKind[] = [
  {
    ...podgc,
    factory: 'podsCollected',
    samples: [...collected.groups()].map(podsCollected),
    regarding:
      'the controlling owner of the pods (for a ReplicaSet its Deployment); the pod itself if it has none, or one whose name is too long to exist',
    when: 'After each pass that deleted pods, one for each owner and reason. Never in mode `DryRun`.',
    upstream: 'none: PodGC records no Events',
  },
  {
    ...podgc,
    factory: 'backlogCollected',
    samples: [backlogCollected(sweep.policy, sweep.pods)],
    regarding: 'the GCPolicy',
    when: 'Before the Events `PodCollected` of a pass, if there are more than 100 of them; one for each policy with deleted pods. Never in mode `DryRun`.',
    upstream: 'none: PodGC records no Events',
  },
  {
    ...podgc,
    factory: 'tripped',
    samples: [tripped(trippedBreaker)],
    regarding: 'the GCPolicy',
    when: 'When more nodes are missing than `pods.safety.maxOrphanedNodesPercent` allows, and more than one, or all; once, until fewer are missing.',
    upstream: 'none: PodGC has no circuit breaker',
  },
  {
    ...podgc,
    factory: 'holding',
    samples: [holding(heldDeletion)],
    regarding: 'the GCPolicy',
    when: 'When a new generation in mode `Enforce` would delete more pods than `pods.safety.holdAbove` allows; once per generation and controller.',
    upstream: 'none',
  },
  {
    ...podgc,
    factory: 'finalizerHeld',
    samples: [finalizerHeld(podHeld)],
    regarding: 'the pod',
    when: 'When two passes in a row have found the pod deleted and waiting only for its finalizers; once per pod.',
    upstream: 'none: PodGC deletes such pods again in every pass',
  },
  {
    ...evictions,
    factory: 'evicted',
    samples: [...evicted(eviction, evictionPod), ...evicted(pressureEviction, evictionPod).slice(0, 1)],
    regarding: 'the pod, and its controlling owner',
    when: 'When the API server has accepted an eviction that the agent of the node requested; once per pod. Never in mode `DryRun`.',
    upstream:
      "the kubelet's, with the same reason, and for a limit the same first sentence; the usage, and the Event on the owner, are additions",
  },
  {
    ...evictions,
    factory: 'evictionBlocked',
    samples: [
      ...[eviction, pressureEviction].map((one) =>
        evictionBlocked(
          one,
          "Cannot evict pod as it would violate the pod's disruption budget. The disruption budget cart needs 2 healthy pods and has 2 currently",
        ),
      ),
    ],
    regarding: 'the pod',
    when: 'When a disruption budget does not allow the eviction, when several budgets cover the pod, which the API server does not support, when the controller has no right to evict, or when an admission policy or webhook denies it; once, until the eviction succeeds or is not requested any more.',
    upstream: 'none: the kubelet ignores budgets',
  },
  {
    ...evictions,
    factory: 'evictionsSlowed',
    samples: [evictionsSlowed(slowedOwner)],
    regarding: 'the owner of the pods; a pod without a controller: itself',
    when: 'When pods of an owner are due for eviction and wait for its pace: a tenth of its pods, at least one, a minute; again each time that its pause doubles, because replacements of evicted pods are due again.',
    upstream: 'none',
  },
  {
    ...evictions,
    factory: 'evictionsInVain',
    samples: [evictionsInVain(nodeObject, sampleShortage)],
    regarding: 'the Node',
    when: 'When three evictions for the pressure of a node have freed nothing, so that no more follow; again after further evictions there.',
    upstream: 'none: the kubelet goes on',
  },
  {
    ...evictions,
    factory: 'exceededGracePeriod',
    samples: [exceededGracePeriod(evictionOverdue)],
    regarding: 'the pod',
    when: 'When an evicted pod has not ended after 1.5 times its grace period, and at least 10 s; once per pod. A new leader does not know the evictions of the previous one.',
    upstream: "the kubelet's, for a pod that it evicts and cannot end in the same time; the note differs",
  },
  {
    file: 'src/controllers/policystatus/events.ts',
    component: 'controller',
    factory: 'invalidPolicy',
    samples: [invalidPolicy(unreadable)],
    regarding: 'the GCPolicy',
    when: 'When a stored policy is invalid; once for each generation of the policy.',
    upstream: 'none',
  },
  {
    file: 'src/kube/lease/lease.ts',
    component: 'controller',
    factory: 'leadershipChanged',
    samples: [true, false].map((leading) => leadershipChanged(lease, { identity: lease.holder, leading })),
    regarding: 'the Lease',
    when: 'When a replica becomes the leader, and when it stops leading.',
    upstream: 'the same reason and note as components that elect with client-go',
  },
  {
    ...imagegc,
    factory: 'imageGcFailed',
    samples: [imageGcFailed(nodeObject, 'listing images: the runtime does not respond')],
    when: 'At the second failed pass over the images in a row and at each later one. A disk that remains too full is a failure too.',
    upstream: "the kubelet's, with the same reason, as often",
  },
  {
    ...imagegc,
    factory: 'holding',
    samples: [holdingImages(nodeObject, heldDeletion.policy, heldImages)],
    when: 'When a new generation in mode `Enforce` would remove more images than `nodes.imageGC.holdAbove` allows; once per generation and agent.',
    upstream: 'none',
  },
  {
    ...imagegc,
    factory: 'freeDiskSpaceFailed',
    samples: [
      freeDiskSpaceFailed(
        nodeObject,
        shortMessage(
          { capacityBytes: 100 * gibibyte, availableBytes: 0 },
          { crossed: ['bytes'], wantedBytes: 20 * gibibyte, wantedInodes: 0 },
          { bytes: 5 * gibibyte, inodes: 0 },
        ),
        {
          usedBytes: 95 * gibibyte,
          capacityBytes: 100 * gibibyte,
          images: [{ reason: 'InUse', count: 12, bytes: 40 * gibibyte }],
          writableLayerBytes: 30 * gibibyte,
          logBytes: 5 * gibibyte,
          restBytes: 20 * gibibyte,
        },
      ),
    ],
    when: 'At each pass that removed every due image and still did not reach `nodes.imageGC.lowThresholdPercent`.',
    upstream:
      "the kubelet's (of Kubernetes 1.36), with the same reason and the same first two sentences; the target and the usage of the disk are additions",
  },
  {
    ...imagegc,
    factory: 'invalidDiskCapacity',
    samples: [invalidDiskCapacity(nodeObject)],
    when: 'At each pass over the images if the file system of the images reports no capacity.',
    upstream: "the kubelet's, with the same reason and note",
  },
  {
    file: 'src/agent/containergc/events.ts',
    component: 'agent',
    factory: 'containerGcFailed',
    samples: [
      containerGcFailed(nodeObject, {
        message: 'removing container 3f2a: the runtime does not respond',
        ...{ planned: 12, removed: 11, failed: 1 },
      }),
    ],
    regarding: 'the Node',
    when: 'At each failed pass over containers, sandboxes and logs, from the first.',
    upstream: "the kubelet's, with the same reason, as often; the counts are additions",
  },
  {
    file: 'src/agent/report/events.ts',
    component: 'agent',
    factory: 'orphansFound',
    samples: [orphansFound(nodeObject, orphanedResources)],
    regarding: 'the Node',
    when: 'When the agent finds more resources of deleted pods than at its last such Event: pod directories, control groups or log directories, or the first snapshots without an owner. Once after a restart. With any policy, or none; `nodes.orphans` decides whether they are removed.',
    upstream: 'none: the kubelet logs an error for each directory that it cannot remove',
  },
  {
    file: 'src/agent/containergc/events.ts',
    component: 'agent',
    factory: 'logTooLarge',
    samples: [logTooLarge(largeLog)],
    regarding: 'the pod',
    when: 'When the current log file of a running container is larger than `nodes.containerGC.logs.warnBytesPerContainer`; once for each container, as soon as its growth is known, and again after the file was smaller. In mode `DryRun` and with the keep label too.',
    upstream: 'none: the kubelet only logs that a rotation failed',
  },
  {
    file: 'src/agent/localstorage/events.ts',
    component: 'agent',
    factory: 'localStorageHigh',
    samples: [localStorageHigh(storageWarning, { uid: '', evicts: true })],
    regarding: 'the pod',
    when: 'When a pod uses more than a level of `nodes.localStorageEviction.warnAtPercent` of one of its limits; once for each limit and level, and again after the usage was below it. In mode `DryRun` too.',
    upstream: 'none: the kubelet evicts without a warning',
  },
  {
    file: 'src/agent/nodepressure/events.ts',
    component: 'agent',
    factory: 'nodePressureAhead',
    samples: [nodePressureAhead(nodeObject, pressureAhead, 'nodefs.available/ahead')],
    regarding: 'the Node',
    when: 'When a threshold of `nodes.nodePressure.thresholds`, or of the kubelet, will be crossed within `nodes.nodePressure.forecast` at the present growth; once more when it is crossed; again after the transition period. In mode `DryRun` too.',
    upstream: 'none: the kubelet has `EvictionThresholdMet` when its own threshold is crossed',
  },
];
