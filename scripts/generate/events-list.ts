import { containerGcFailed } from '../../src/agent/containergc/events.ts';
import {
  freeDiskSpaceFailed,
  imageGcFailed,
  invalidDiskCapacity,
  shortMessage,
} from '../../src/agent/imagegc/events.ts';
import { localStorageHigh } from '../../src/agent/localstorage/events.ts';
import { evicted, evictionBlocked, exceededGracePeriod } from '../../src/controllers/eviction/events.ts';
import {
  backlogCollected,
  CollectedByOwner,
  finalizerHeld,
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
  lease,
  node,
  nodeObject,
  podHeld,
  storageWarning,
  sweep,
  trippedBreaker,
  unreadable,
} from './events-samples.ts';

const gibibyte = 1024 ** 3;

/** One kind of Event: what the program makes of sample arguments, and what only its callers know. */
export interface EventKind {
  /** The file and the name of the function that makes it. */
  readonly file: string;
  readonly factory: string;
  readonly face: 'controller' | 'agent';
  readonly samples: readonly EventSpec[];
  readonly regarding: string;
  /** When it is recorded, and how often. */
  readonly when: string;
  readonly upstream: string;
}

const podgc = { face: 'controller', file: 'src/controllers/podgc/events.ts' } as const;
const evictions = { face: 'controller', file: 'src/controllers/eviction/events.ts' } as const;
const imagegc = { face: 'agent', file: 'src/agent/imagegc/events.ts', regarding: 'the Node' } as const;

const collected = new CollectedByOwner(new Map());
for (const deletion of deletions) collected.add(deletion);

/** Every Event that dustpan can record. */
export const eventKinds: readonly EventKind[] = [
  {
    ...podgc,
    factory: 'podsCollected',
    samples: [...collected.groups()].map(podsCollected),
    regarding:
      'the controlling owner of the pods, which outlives them (of a ReplicaSet its Deployment); the pod itself if it has none, or one whose name is too long to exist',
    when: 'After each pass that deleted pods, one for each owner and reason, however many pods went. Never in mode `DryRun`.',
    upstream: 'none: PodGC records no Events',
  },
  {
    ...podgc,
    factory: 'backlogCollected',
    samples: [backlogCollected(sweep.policy, sweep.pods)],
    regarding: 'the GCPolicy',
    when: 'Before the Events `PodCollected` of a pass, when there are more than 100 of them; one for each policy that had pods deleted. Never in mode `DryRun`.',
    upstream: 'none: PodGC records no Events',
  },
  {
    ...podgc,
    factory: 'tripped',
    samples: [tripped(trippedBreaker)],
    regarding: 'the GCPolicy',
    when: 'When more nodes begin to be missing than `pods.safety.maxOrphanedNodesPercent` allows; once, until fewer are.',
    upstream: 'none: PodGC has no breaker',
  },
  {
    ...podgc,
    factory: 'finalizerHeld',
    samples: [finalizerHeld(podHeld)],
    regarding: 'the pod',
    when: 'When two passes in a row have found the pod deleted and waiting only for its finalizers; once a pod.',
    upstream: 'none: PodGC deletes such pods again in every pass',
  },
  {
    ...evictions,
    factory: 'evicted',
    samples: evicted(eviction, evictionPod),
    regarding: 'the pod, and its controlling owner, which outlives it',
    when: 'When the API server has taken the eviction that the agent of the node asked for; once a pod. Never in mode `DryRun`.',
    upstream:
      "the kubelet's, with the same reason and first sentence; the figures, and the Event on the owner, are ours",
  },
  {
    ...evictions,
    factory: 'evictionBlocked',
    samples: [
      evictionBlocked(
        evictionPod,
        "Cannot evict pod as it would violate the pod's disruption budget. The disruption budget cart needs 2 healthy pods and has 2 currently",
      ),
    ],
    regarding: 'the pod',
    when: 'When a disruption budget does not allow the eviction, when several budgets cover the pod, which the API server does not support, or when the controller has no right to evict; once, until the eviction succeeds or is not requested any more.',
    upstream: 'none: the kubelet asks no budget',
  },
  {
    ...evictions,
    factory: 'exceededGracePeriod',
    samples: [exceededGracePeriod(evictionOverdue)],
    regarding: 'the pod',
    when: 'When an evicted pod has not ended after 1.5 times its grace period, and at least 10 s; once a pod. A new leader does not know whom the one before evicted.',
    upstream: "the kubelet's, for a pod that it evicts and cannot end in the same time; the note is ours",
  },
  {
    file: 'src/controllers/policystatus/events.ts',
    face: 'controller',
    factory: 'invalidPolicy',
    samples: [invalidPolicy(unreadable)],
    regarding: 'the GCPolicy',
    when: 'When a policy that the API server let through cannot be followed; once for each generation of the policy.',
    upstream: 'none',
  },
  {
    file: 'src/kube/lease/lease.ts',
    face: 'controller',
    factory: 'leadershipChanged',
    samples: [true, false].map((leading) => leadershipChanged(lease, { identity: lease.holder, leading })),
    regarding: 'the Lease',
    when: 'When a replica begins to lead, and when it ends.',
    upstream: 'the same reason and note, by everything that elects with client-go',
  },
  {
    ...imagegc,
    factory: 'imageGcFailed',
    samples: [imageGcFailed(node, 'listing images: the runtime does not answer')],
    when: 'At the second failed pass over the images in a row, and at each after it. A disk that stays too full is a failure too.',
    upstream: "the kubelet's, with the same reason, as often",
  },
  {
    ...imagegc,
    factory: 'freeDiskSpaceFailed',
    samples: [
      freeDiskSpaceFailed(
        node,
        shortMessage(
          { capacityBytes: 100 * gibibyte, availableBytes: 0 },
          { wantedBytes: 20 * gibibyte, freedBytes: 5 * gibibyte },
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
    when: 'At each pass that removed every image that may go and still did not reach `nodes.imageGC.lowThresholdPercent`.',
    upstream:
      "the kubelet's (of Kubernetes 1.36), with the same reason and the same first two sentences; the target and what the disk is full of are ours",
  },
  {
    ...imagegc,
    factory: 'invalidDiskCapacity',
    samples: [invalidDiskCapacity(node)],
    when: 'At each pass over the images for which the file system of the images claims to have no capacity.',
    upstream: "the kubelet's, with the same reason and note",
  },
  {
    file: 'src/agent/containergc/events.ts',
    face: 'agent',
    factory: 'containerGcFailed',
    samples: [
      containerGcFailed(nodeObject, {
        message: 'removing container 3f2a: the runtime does not answer',
        ...{ planned: 12, removed: 11, failed: 1 },
      }),
    ],
    regarding: 'the Node',
    when: 'At each failed pass over containers, sandboxes and logs, from the first on.',
    upstream: "the kubelet's, with the same reason, as often; the figures are ours",
  },
  {
    file: 'src/agent/localstorage/events.ts',
    face: 'agent',
    factory: 'localStorageHigh',
    samples: [localStorageHigh(storageWarning, { evictAtPercent: 100, evicts: true })],
    regarding: 'the pod',
    when: 'When a pod uses more than a level of `nodes.localStorageEviction.warnAtPercent` of one of its limits; once for each limit and level, again after usage fell below it. In mode `DryRun` too.',
    upstream: 'none: the kubelet evicts without a warning',
  },
];
