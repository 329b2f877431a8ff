const everyPodField = {
  namespaceSelector: {
    matchLabels: { team: 'a' },
    matchExpressions: [{ key: 'example.com/tier', operator: 'NotIn', values: ['gold', ''] }],
  },
  excludeNamespaces: ['kube-system', 'openshift-*'],
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
      { reason: 'Error', messagePattern: 'exit code 1.*', ttl: '1d12h' },
      { messagePattern: '*ephemeral-storage*', ttl: '87600h' },
      { exitCodes: [0, 137, 255, -1073741510], ttl: '1h' },
      { reason: 'OutOf*', ttl: '1h' },
    ],
    honorTTLAnnotation: true,
    keepPerOwner: 1,
    keepPerOwnerByPhase: { failed: 3 },
    protectUnfinishedJobs: true,
  },
  orphaned: { quarantine: '2.5m' },
  safety: { maxDeletesPerPass: 100, maxOrphanedNodesPercent: 100, holdAbove: 0, holdFor: '521w3d' },
};

const byAge = {
  highThresholdPercent: 100,
  minimumAge: '1h',
  maximumAge: '30d',
  keep: ['*/base/*', '*@sha256:*', 'nginx:1.*', '[2001:db8::1]:5000/app_1', 'registry.*:5000/a__b/C?'],
  only: ['registry.example.com/ci/*', '*'],
  remove: [
    { image: 'registry.example.com/app:1.2*', until: '2026-12-01T00:00:00Z' },
    { image: `*@sha256:${'0123'.repeat(16)}`, until: '2000-02-29T23:59:59Z' },
    ...['a', 'a:*', 'sha/*', '*/sha256', '*/1*', '[2001:db8::1]:5000/*'].map((image) => ({
      image,
      until: '2026-12-01T00:00:00Z',
    })),
  ],
};
const maximumAgeByImage = [
  { image: 'registry.example.com/ci/*', maximumAge: '1w' },
  { image: 'registry.example.com/base/*', maximumAge: '0s' },
];
const quantities = { maxBytesPerPod: '1.5Gi', warnBytesPerContainer: '500M' };
const limits = {
  warnAtPercent: [],
  defaultLimits: { emptyDir: '10Gi', pod: '100G', container: '128974848' },
};

/** Policies of all kinds that the API server must accept: a name, and the spec as written. */
export const goodPolicies: readonly (readonly [name: string, spec: object])[] = [
  ['an empty spec has no rules and mode DryRun', {}],
  ['leftovers of containerd', { nodes: { leftovers: { downloads: 'Remove', leases: 'Report' } } }],
  ['an empty block of pods has no rule, but its brakes', { pods: {} }],
  [
    'empty rules have their defaults',
    { mode: 'Enforce', pods: { terminated: {}, orphaned: {}, unscheduledTerminating: {}, outOfService: {} } },
  ],
  ['every field of pods', { priority: -10, pods: everyPodField }],
  ['a selector without labels selects all', { pods: { podSelector: { matchLabels: {} } } }],
  [
    'a label without a value is the empty value, not any',
    { pods: { podSelector: { matchLabels: { team: null } } } },
  ],
  [
    'null is as good as absent',
    {
      mode: null,
      pods: { terminated: null, safety: null, excludeNamespaces: null, orphaned: { quarantine: null } },
      nodes: null,
    },
  ],
  [
    'empty rules for nodes have their defaults; logs stay off',
    { nodes: { imageGC: {}, containerGC: {}, localStorageEviction: {} } },
  ],
  ['images are removed by age alone', { nodes: { imageGC: byAge } }],
  [
    'maximum ages by image, none among them; inodes with their defaults',
    { nodes: { imageGC: { maximumAgeByImage, inodes: {} } } },
  ],
  [
    'evictions without some namespaces, at a pace',
    { nodes: { excludeNamespaces: ['kube-system'], localStorageEviction: { maxEvictionsPerMinute: 1000 } } },
  ],
  [
    'budgets of namespaces: per node, of all nodes and both, of some namespaces or all',
    {
      nodes: {
        namespaceBudgets: [
          { namespaceSelector: everyPodField.namespaceSelector, perNode: '20Gi', cluster: '200Gi' },
          { namespaceSelector: {}, perNode: '0.5' },
          { perNode: null, cluster: '1.5T' },
        ],
      },
    },
  ],
  ['checkpoints without a limit', { nodes: { checkpoints: {} } }],
  ['limits for checkpoints', { nodes: { checkpoints: { maxPerPod: 0, maxAge: '7d', maxBytes: '20Gi' } } }],
  ['quantities of bytes', { nodes: { containerGC: { logs: quantities }, localStorageEviction: limits } }],
];
