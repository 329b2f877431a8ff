/** A GCPolicy that the API server must refuse, naming the field. */
export interface BadPolicy {
  readonly name: string;
  readonly spec: unknown;
  /** Path that the message must name. */
  readonly field: string;
}

/** A GCPolicy that the API server must take, and what it must have made of it. */
export interface GoodPolicy {
  readonly name: string;
  readonly spec: object;
  readonly stored: object;
}

const pods = (fields: object): object => ({ pods: fields });
const terminated = (fields: object): object => pods({ terminated: fields });
const rule = (fields: unknown): object => terminated({ ttlByReason: [fields] });
const imageGC = (fields: object): object => ({ nodes: { imageGC: fields } });
const containerGC = (fields: object): object => ({ nodes: { containerGC: fields } });
const eviction = (fields: object): object => ({ nodes: { localStorageEviction: fields } });
const podLabels = (matchLabels: unknown): object => pods({ podSelector: { matchLabels } });
const expression = (...matchExpressions: unknown[]): object => pods({ podSelector: { matchExpressions } });
const words = (count: number): string[] => Array.from({ length: count }, (_, i) => `w${i}`);

export const badPolicies: readonly BadPolicy[] = [
  { name: 'no spec', spec: undefined, field: 'spec' },
  { name: 'a spec that is a list', spec: [], field: 'spec' },
  { name: 'an unknown mode', spec: { mode: 'Delete' }, field: 'spec.mode' },
  { name: 'a mode in lower case', spec: { mode: 'enforce' }, field: 'spec.mode' },
  { name: 'a boolean mode', spec: { mode: true }, field: 'spec.mode' },
  { name: 'a priority in words', spec: { priority: 'high' }, field: 'spec.priority' },
  { name: 'a fractional priority', spec: { priority: 1.5 }, field: 'spec.priority' },
  { name: 'a priority out of bounds', spec: { priority: 1_000_000_001 }, field: 'spec.priority' },
  { name: 'pods that are a list', spec: { pods: [] }, field: 'spec.pods' },
  { name: 'a rule given as true', spec: pods({ outOfService: true }), field: 'spec.pods.outOfService' },

  {
    name: 'an excluded namespace that is none',
    spec: pods({ excludeNamespaces: ['kube-*'] }),
    field: 'spec.pods.excludeNamespaces[0]',
  },
  {
    name: 'an empty excluded namespace',
    spec: pods({ excludeNamespaces: [''] }),
    field: 'spec.pods.excludeNamespaces[0]',
  },
  {
    name: 'a null excluded namespace',
    spec: pods({ excludeNamespaces: [null] }),
    field: 'spec.pods.excludeNamespaces[0]',
  },
  {
    name: 'a namespace excluded twice',
    spec: pods({ excludeNamespaces: ['a', 'a'] }),
    field: 'spec.pods.excludeNamespaces[1]',
  },
  {
    name: 'too many excluded namespaces',
    spec: pods({ excludeNamespaces: words(257) }),
    field: 'spec.pods.excludeNamespaces',
  },

  { name: 'a selector that is a text', spec: pods({ podSelector: 'app=x' }), field: 'spec.pods.podSelector' },
  {
    name: 'a label key that is none',
    spec: podLabels({ 'app=x': 'y' }),
    field: 'spec.pods.podSelector.matchLabels',
  },
  {
    name: 'a label value that is none',
    spec: podLabels({ app: 'a b' }),
    field: 'spec.pods.podSelector.matchLabels.app',
  },
  {
    name: 'a label value that is a number',
    spec: podLabels({ app: 1 }),
    field: 'spec.pods.podSelector.matchLabels.app',
  },
  {
    name: 'too many labels',
    spec: podLabels(Object.fromEntries(words(33).map((key) => [key, '']))),
    field: 'spec.pods.podSelector.matchLabels',
  },
  {
    name: 'an expression without a key',
    spec: expression({ operator: 'Exists' }),
    field: 'spec.pods.podSelector.matchExpressions[0].key',
  },
  {
    name: 'an expression without an operator',
    spec: expression({ key: 'a' }),
    field: 'spec.pods.podSelector.matchExpressions[0].operator',
  },
  {
    name: 'an operator of node affinity',
    spec: { nodes: { nodeSelector: { matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] } } },
    field: 'spec.nodes.nodeSelector.matchExpressions[0].operator',
  },
  {
    name: 'In without values',
    spec: pods({ namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }),
    field: 'spec.pods.namespaceSelector.matchExpressions[0].values',
  },
  {
    name: 'NotIn with an empty list',
    spec: expression({ key: 'a', operator: 'NotIn', values: [] }),
    field: 'spec.pods.podSelector.matchExpressions[0].values',
  },
  {
    name: 'Exists with values',
    spec: expression({ key: 'a', operator: 'Exists' }, { key: 'b', operator: 'Exists', values: ['c'] }),
    field: 'spec.pods.podSelector.matchExpressions[1].values',
  },
  {
    name: 'DoesNotExist with values',
    spec: expression({ key: 'b', operator: 'DoesNotExist', values: ['c'] }),
    field: 'spec.pods.podSelector.matchExpressions[0].values',
  },

  {
    name: 'a threshold in words',
    spec: terminated({ threshold: 'x' }),
    field: 'spec.pods.terminated.threshold',
  },
  {
    name: 'a threshold of no int32',
    spec: terminated({ threshold: 2 ** 31 }),
    field: 'spec.pods.terminated.threshold',
  },
  {
    name: 'a negative number to keep',
    spec: terminated({ keepPerOwner: -1 }),
    field: 'spec.pods.terminated.keepPerOwner',
  },
  {
    name: 'a switch in words',
    spec: terminated({ protectUnfinishedJobs: 'yes' }),
    field: 'spec.pods.terminated.protectUnfinishedJobs',
  },
  {
    name: 'a time to live in days',
    spec: terminated({ ttlAfterFinished: '1d' }),
    field: 'spec.pods.terminated.ttlAfterFinished',
  },
  {
    name: 'a time to live without a unit',
    spec: terminated({ ttlAfterFinished: '3600' }),
    field: 'spec.pods.terminated.ttlAfterFinished',
  },
  {
    name: 'a time to live as a number',
    spec: terminated({ ttlAfterFinished: 3600 }),
    field: 'spec.pods.terminated.ttlAfterFinished',
  },
  {
    name: 'a negative time to live',
    spec: terminated({ ttlAfterFinished: '-1h' }),
    field: 'spec.pods.terminated.ttlAfterFinished',
  },
  {
    name: 'a time to live over ten years',
    spec: terminated({ ttlAfterFinished: '87601h' }),
    field: 'spec.pods.terminated.ttlAfterFinished',
  },
  {
    name: 'a time to live beyond all counting',
    spec: terminated({ ttlAfterFinished: `${'9'.repeat(31)}h` }),
    field: 'spec.pods.terminated.ttlAfterFinished',
  },
  {
    name: 'an overlong time to live',
    spec: terminated({ ttlAfterFinished: '1s'.repeat(17) }),
    field: 'spec.pods.terminated.ttlAfterFinished',
  },
  {
    name: 'a rule without a time to live',
    spec: rule({ reason: 'Evicted' }),
    field: 'spec.pods.terminated.ttlByReason[0].ttl',
  },
  {
    name: 'a rule without a matcher',
    spec: rule({ ttl: '1h' }),
    field: 'spec.pods.terminated.ttlByReason[0]',
  },
  {
    name: 'a rule that matches any message',
    spec: rule({ messagePattern: '', ttl: '1h' }),
    field: 'spec.pods.terminated.ttlByReason[0]',
  },
  {
    name: 'a rule for running pods',
    spec: rule({ phase: 'Running', ttl: '1h' }),
    field: 'spec.pods.terminated.ttlByReason[0].phase',
  },
  {
    name: 'a rule for no reason',
    spec: rule({ reason: '', ttl: '1h' }),
    field: 'spec.pods.terminated.ttlByReason[0].reason',
  },
  {
    name: 'an overlong message pattern',
    spec: rule({ messagePattern: 'x'.repeat(257), ttl: '1h' }),
    field: 'spec.pods.terminated.ttlByReason[0].messagePattern',
  },
  { name: 'a rule that is a text', spec: rule('Evicted'), field: 'spec.pods.terminated.ttlByReason[0]' },
  {
    name: 'too many rules',
    spec: terminated({ ttlByReason: Array(33).fill({ reason: 'x', ttl: '1h' }) }),
    field: 'spec.pods.terminated.ttlByReason',
  },
  {
    name: 'a quarantine that is a number',
    spec: pods({ orphaned: { quarantine: 40 } }),
    field: 'spec.pods.orphaned.quarantine',
  },
  {
    name: 'a percentage over 100',
    spec: pods({ safety: { maxOrphanedNodesPercent: 101 } }),
    field: 'spec.pods.safety.maxOrphanedNodesPercent',
  },
  {
    name: 'a negative limit of deletes',
    spec: pods({ safety: { maxDeletesPerPass: -1 } }),
    field: 'spec.pods.safety.maxDeletesPerPass',
  },

  {
    name: 'a high threshold over 100',
    spec: imageGC({ highThresholdPercent: 101 }),
    field: 'spec.nodes.imageGC.highThresholdPercent',
  },
  {
    name: 'a negative low threshold',
    spec: imageGC({ lowThresholdPercent: -1 }),
    field: 'spec.nodes.imageGC.lowThresholdPercent',
  },
  {
    name: 'a low threshold above the high one',
    spec: imageGC({ highThresholdPercent: 70, lowThresholdPercent: 75 }),
    field: 'spec.nodes.imageGC.lowThresholdPercent',
  },
  {
    name: 'equal thresholds',
    spec: imageGC({ highThresholdPercent: 80, lowThresholdPercent: 80 }),
    field: 'spec.nodes.imageGC.lowThresholdPercent',
  },
  {
    name: 'a high threshold below the default low one',
    spec: imageGC({ highThresholdPercent: 70 }),
    field: 'spec.nodes.imageGC.lowThresholdPercent',
  },
  {
    name: 'a maximum age below the default minimum age',
    spec: imageGC({ maximumAge: '1m' }),
    field: 'spec.nodes.imageGC.maximumAge',
  },
  {
    name: 'a maximum age that is the minimum age',
    spec: imageGC({ minimumAge: '24h', maximumAge: '1440m' }),
    field: 'spec.nodes.imageGC.maximumAge',
  },
  {
    name: 'an empty image pattern',
    spec: imageGC({ keep: ['nginx', ''] }),
    field: 'spec.nodes.imageGC.keep[1]',
  },
  {
    name: 'an image pattern twice',
    spec: imageGC({ keep: ['nginx', 'nginx'] }),
    field: 'spec.nodes.imageGC.keep[1]',
  },
  {
    name: 'an overlong image pattern',
    spec: imageGC({ keep: ['x'.repeat(513)] }),
    field: 'spec.nodes.imageGC.keep[0]',
  },
  { name: 'a keep list that is a text', spec: imageGC({ keep: 'nginx' }), field: 'spec.nodes.imageGC.keep' },
  {
    name: 'fewer than no containers',
    spec: containerGC({ maxContainers: -2 }),
    field: 'spec.nodes.containerGC.maxContainers',
  },
  {
    name: 'a null among the warnings',
    spec: eviction({ warnAtPercent: [null] }),
    field: 'spec.nodes.localStorageEviction.warnAtPercent[0]',
  },
  {
    name: 'bytes with a unit of decibels',
    spec: containerGC({ logs: { maxBytesPerPod: '10dB' } }),
    field: 'spec.nodes.containerGC.logs.maxBytesPerPod',
  },
  {
    name: 'bytes as a number',
    spec: containerGC({ logs: { maxBytesPerPod: 1024 } }),
    field: 'spec.nodes.containerGC.logs.maxBytesPerPod',
  },
  {
    name: 'negative bytes',
    spec: eviction({ defaultLimits: { emptyDir: '-1Gi' } }),
    field: 'spec.nodes.localStorageEviction.defaultLimits.emptyDir',
  },
  {
    name: 'an eviction at 0 percent',
    spec: eviction({ evictAtPercent: 0 }),
    field: 'spec.nodes.localStorageEviction.evictAtPercent',
  },
  {
    name: 'a warning over 100 percent',
    spec: eviction({ warnAtPercent: [80, 120] }),
    field: 'spec.nodes.localStorageEviction.warnAtPercent[1]',
  },
  {
    name: 'a warning twice',
    spec: eviction({ warnAtPercent: [80, 80] }),
    field: 'spec.nodes.localStorageEviction.warnAtPercent[1]',
  },
  {
    name: 'a grace period of less than the own',
    spec: eviction({ gracePeriodSeconds: -2 }),
    field: 'spec.nodes.localStorageEviction.gracePeriodSeconds',
  },
  {
    name: 'an unknown source of usage',
    spec: eviction({ usageSource: 'Guess' }),
    field: 'spec.nodes.localStorageEviction.usageSource',
  },
];

const general = { mode: 'DryRun', priority: 0 };
const podDefaults = {
  namespaceSelector: {},
  excludeNamespaces: [],
  podSelector: {},
  safety: { maxDeletesPerPass: 0, maxOrphanedNodesPercent: 20 },
};
const terminatedDefaults = { threshold: 12_500, keepPerOwner: 0, protectUnfinishedJobs: false };
const imageDefaults = {
  highThresholdPercent: 85,
  lowThresholdPercent: 80,
  minimumAge: '2m',
  maximumAge: '0s',
  keep: [],
  kubeletHighThresholdPercent: 85,
  maxImagesPerPass: 0,
  repullBackoff: true,
};
const evictionDefaults = {
  warnAtPercent: [80, 95],
  evictAtPercent: 100,
  respectPodDisruptionBudgets: true,
  gracePeriodSeconds: -1,
  usageSource: 'Kubelet',
};

export const goodPolicies: readonly GoodPolicy[] = [
  { name: 'an empty spec says nothing, in mode DryRun', spec: {}, stored: general },
  {
    name: 'an empty block of pods has no rule, but its brakes',
    spec: { pods: {} },
    stored: { ...general, pods: podDefaults },
  },
  {
    name: 'empty rules have their defaults',
    spec: {
      mode: 'Enforce',
      pods: { terminated: {}, orphaned: {}, unscheduledTerminating: {}, outOfService: {} },
    },
    stored: {
      mode: 'Enforce',
      priority: 0,
      pods: {
        ...podDefaults,
        terminated: terminatedDefaults,
        orphaned: { quarantine: '40s' },
        unscheduledTerminating: {},
        outOfService: {},
      },
    },
  },
  {
    name: 'every field of pods',
    spec: {
      priority: -10,
      pods: {
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
          keepPerOwner: 1,
          protectUnfinishedJobs: true,
        },
        orphaned: { quarantine: '2.5m' },
        safety: { maxDeletesPerPass: 100, maxOrphanedNodesPercent: 100 },
      },
    },
    stored: {
      mode: 'DryRun',
      priority: -10,
      pods: {
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
          keepPerOwner: 1,
          protectUnfinishedJobs: true,
        },
        orphaned: { quarantine: '2.5m' },
        safety: { maxDeletesPerPass: 100, maxOrphanedNodesPercent: 100 },
      },
    },
  },
  {
    name: 'a selector without labels selects all',
    spec: { pods: { podSelector: { matchLabels: {} } } },
    stored: { ...general, pods: { ...podDefaults, podSelector: { matchLabels: {} } } },
  },
  {
    name: 'a label without a value is the empty value, not any',
    spec: { pods: { podSelector: { matchLabels: { team: null } } } },
    stored: { ...general, pods: { ...podDefaults, podSelector: { matchLabels: { team: '' } } } },
  },
  {
    name: 'null is as good as absent',
    spec: {
      mode: null,
      pods: { terminated: null, safety: null, excludeNamespaces: null, orphaned: { quarantine: null } },
      nodes: null,
    },
    stored: { ...general, pods: { ...podDefaults, orphaned: { quarantine: '40s' } } },
  },
  {
    name: 'empty rules for nodes have their defaults; logs stay off',
    spec: { nodes: { imageGC: {}, containerGC: {}, localStorageEviction: {} } },
    stored: {
      ...general,
      nodes: {
        nodeSelector: {},
        imageGC: imageDefaults,
        containerGC: { minimumAge: '0s', maxPerPodContainer: 1, maxContainers: -1, sandboxes: true },
        localStorageEviction: evictionDefaults,
      },
    },
  },
  {
    name: 'images are removed by age alone',
    spec: imageGC({
      highThresholdPercent: 100,
      minimumAge: '1h',
      maximumAge: '720h',
      keep: ['*/base/*', '*@sha256:*'],
    }),
    stored: {
      ...general,
      nodes: {
        nodeSelector: {},
        imageGC: {
          ...imageDefaults,
          highThresholdPercent: 100,
          minimumAge: '1h',
          maximumAge: '720h',
          keep: ['*/base/*', '*@sha256:*'],
        },
      },
    },
  },
  {
    name: 'quantities of bytes',
    spec: {
      nodes: {
        containerGC: { logs: { maxBytesPerPod: '1.5Gi' } },
        localStorageEviction: {
          warnAtPercent: [],
          defaultLimits: { emptyDir: '10Gi', pod: '100G', container: '128974848' },
        },
      },
    },
    stored: {
      ...general,
      nodes: {
        nodeSelector: {},
        containerGC: {
          minimumAge: '0s',
          maxPerPodContainer: 1,
          maxContainers: -1,
          sandboxes: true,
          logs: {
            orphanedDirectories: true,
            brokenLinks: true,
            maxRotatedPerContainer: -1,
            maxBytesPerPod: '1.5Gi',
          },
        },
        localStorageEviction: {
          ...evictionDefaults,
          warnAtPercent: [],
          defaultLimits: { emptyDir: '10Gi', pod: '100G', container: '128974848' },
        },
      },
    },
  },
];

/** The object around a spec. */
export const policyOf = (name: string, spec: unknown): object => ({
  apiVersion: 'gc.dustpan.dev/v1alpha1',
  kind: 'GCPolicy',
  metadata: { name },
  spec,
});
