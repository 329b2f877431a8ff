import type { GoodPolicy } from './table.ts';

const general = { mode: 'DryRun', priority: 0 };
const podDefaults = {
  namespaceSelector: {},
  excludeNamespaces: [],
  podSelector: {},
  safety: { maxDeletesPerPass: 0, maxOrphanedNodesPercent: 20, holdAbove: 100, holdFor: '5m' },
};
const terminatedDefaults = {
  threshold: 12_500,
  honorTTLAnnotation: false,
  keepPerOwner: 0,
  protectUnfinishedJobs: false,
};
const imageDefaults = {
  highThresholdPercent: 85,
  lowThresholdPercent: 80,
  minimumAge: '2m',
  maximumAge: '0s',
  maximumAgeByImage: [],
  keep: [],
  kubeletHighThresholdPercent: 85,
  maxImagesPerPass: 0,
  holdAbove: 10,
  holdFor: '5m',
  repullBackoff: true,
};
const evictionDefaults = {
  maxEvictionsPerMinute: 10,
  warnAtPercent: [80, 95],
  evictAtPercent: 100,
  respectPodDisruptionBudgets: true,
  gracePeriodSeconds: -1,
};

/** What the server stores of a policy with these rules for pods, or for nodes. */
const storedForPods = (pods: object): object => ({ ...general, pods: { ...podDefaults, ...pods } });
const storedForNodes = (nodes: object): object => ({
  ...general,
  nodes: { nodeSelector: {}, excludeNamespaces: [], namespaceBudgets: [], ...nodes },
});
const containerDefaults = { minimumAge: '0s', maxPerPodContainer: 1, maxContainers: -1, sandboxes: true };

const everyPodField = {
  namespaceSelector: {
    matchLabels: { team: 'a' },
    matchExpressions: [{ key: 'example.com/tier', operator: 'NotIn', values: ['gold', ''] }],
  },
  excludeNamespaces: ['kube-system'],
  podSelector: {
    matchExpressions: [
      { key: 'batch', operator: 'Exists' },
      { key: 'debug', operator: 'DoesNotExist', values: [] },
    ],
  },
  terminated: {
    threshold: -1,
    perNamespaceThreshold: 200,
    ttlAfterFinished: '1h30m',
    ttlByReason: [
      { phase: 'Failed', reason: 'Evicted', messagePattern: '', ttl: '0s' },
      { messagePattern: '*ephemeral-storage*', ttl: '87600h' },
    ],
    honorTTLAnnotation: true,
    keepPerOwner: 1,
    protectUnfinishedJobs: true,
  },
  orphaned: { quarantine: '2.5m' },
  safety: { maxDeletesPerPass: 100, maxOrphanedNodesPercent: 100, holdAbove: 0, holdFor: '1h' },
};

const byAge = {
  highThresholdPercent: 100,
  minimumAge: '1h',
  maximumAge: '720h',
  keep: ['*/base/*', '*@sha256:*'],
};
const maximumAgeByImage = [
  { image: 'registry.example.com/ci/*', maximumAge: '24h' },
  { image: 'registry.example.com/base/*', maximumAge: '0s' },
];
const quantities = { maxBytesPerPod: '1.5Gi', warnBytesPerContainer: '500M' };
const limits = {
  warnAtPercent: [],
  defaultLimits: { emptyDir: '10Gi', pod: '100G', container: '128974848' },
};

/** Policies of all kinds, as written and as stored. */
export const goodPolicies: readonly GoodPolicy[] = [
  { name: 'an empty spec has no rules and mode DryRun', spec: {}, stored: general },
  {
    name: 'an empty block of pods has no rule, but its brakes',
    spec: { pods: {} },
    stored: storedForPods({}),
  },
  {
    name: 'empty rules have their defaults',
    spec: {
      mode: 'Enforce',
      pods: { terminated: {}, orphaned: {}, unscheduledTerminating: {}, outOfService: {} },
    },
    stored: {
      ...storedForPods({
        terminated: terminatedDefaults,
        orphaned: { quarantine: '40s' },
        unscheduledTerminating: {},
        outOfService: {},
      }),
      mode: 'Enforce',
    },
  },
  {
    name: 'every field of pods',
    spec: { priority: -10, pods: everyPodField },
    stored: { mode: 'DryRun', priority: -10, pods: everyPodField },
  },
  {
    name: 'a selector without labels selects all',
    spec: { pods: { podSelector: { matchLabels: {} } } },
    stored: storedForPods({ podSelector: { matchLabels: {} } }),
  },
  {
    name: 'a label without a value is the empty value, not any',
    spec: { pods: { podSelector: { matchLabels: { team: null } } } },
    stored: storedForPods({ podSelector: { matchLabels: { team: '' } } }),
  },
  {
    name: 'null is as good as absent',
    spec: {
      mode: null,
      pods: { terminated: null, safety: null, excludeNamespaces: null, orphaned: { quarantine: null } },
      nodes: null,
    },
    stored: storedForPods({ orphaned: { quarantine: '40s' } }),
  },
  {
    name: 'empty rules for nodes have their defaults; logs stay off',
    spec: { nodes: { imageGC: {}, containerGC: {}, localStorageEviction: {} } },
    stored: storedForNodes({
      imageGC: imageDefaults,
      containerGC: containerDefaults,
      localStorageEviction: evictionDefaults,
    }),
  },
  {
    name: 'images are removed by age alone',
    spec: { nodes: { imageGC: byAge } },
    stored: storedForNodes({ imageGC: { ...imageDefaults, ...byAge } }),
  },
  {
    name: 'maximum ages by image, none among them; inodes with their defaults',
    spec: { nodes: { imageGC: { maximumAgeByImage, inodes: {} } } },
    stored: storedForNodes({
      imageGC: {
        ...imageDefaults,
        maximumAgeByImage,
        inodes: { highThresholdPercent: 85, lowThresholdPercent: 80 },
      },
    }),
  },
  {
    name: 'evictions without some namespaces, at a pace',
    spec: {
      nodes: { excludeNamespaces: ['kube-system'], localStorageEviction: { maxEvictionsPerMinute: 1000 } },
    },
    stored: storedForNodes({
      excludeNamespaces: ['kube-system'],
      localStorageEviction: { ...evictionDefaults, maxEvictionsPerMinute: 1000 },
    }),
  },
  {
    name: 'budgets of namespaces: per node, of all nodes and both, of some namespaces or all',
    spec: {
      nodes: {
        namespaceBudgets: [
          { namespaceSelector: everyPodField.namespaceSelector, perNode: '20Gi', cluster: '200Gi' },
          { namespaceSelector: {}, perNode: '0.5' },
          { perNode: null, cluster: '1.5T' },
        ],
      },
    },
    stored: storedForNodes({
      namespaceBudgets: [
        { namespaceSelector: everyPodField.namespaceSelector, perNode: '20Gi', cluster: '200Gi' },
        { namespaceSelector: {}, perNode: '0.5', cluster: '' },
        { namespaceSelector: {}, perNode: '', cluster: '1.5T' },
      ],
    }),
  },
  {
    name: 'quantities of bytes',
    spec: { nodes: { containerGC: { logs: quantities }, localStorageEviction: limits } },
    stored: storedForNodes({
      containerGC: {
        ...containerDefaults,
        logs: {
          orphanedDirectories: true,
          brokenLinks: true,
          maxRotatedPerContainer: -1,
          ...quantities,
        },
      },
      localStorageEviction: { ...evictionDefaults, ...limits },
    }),
  },
];
