import type { MutantGroup } from '../group.ts';

const nodePods = 'src/kube/cache/node-pods.ts';
const owners = 'src/kube/cache/owner-references.ts';
const podRecord = 'src/kube/cache/pod-record.ts';
const removed = 'src/kube/cache/removed-objects.ts';
const reports = 'src/kube/cache/node-report-facts.ts';
const resources = 'src/kube/cache/resources.ts';

/** What the caches keep of each object. */
export const kubeObjectMutants: MutantGroup = {
  unit: 'kube/objects',
  reasons: [],
  tests: ['test/unit/kube/cache/', 'test/unit/kube/codec/decode'],
  mutants: [
    ['fact: the controller among the owners', owners, 'controller === true', 'true'],
    [
      'fact: the same state of the same object',
      resources,
      'object?.resourceVersion === meta?.resourceVersion ? object',
      'true ? object',
    ],
    [
      'fact: a custom resource without a UID',
      resources,
      "if (uid === '') throw new MalformedError('object without metadata.uid');",
      '',
    ],
    [
      'memory: only some metadata of a custom resource',
      resources,
      'object: { ...object, metadata: keptMetadata(meta) }',
      'object',
    ],
    ['fact: a removed object of an unknown kind', removed, 'kind === undefined || ', ''],
    ['request: the report of one node', removed, 'node === undefined ?', 'true ?'],
    ['request: the pods of one node', resources, "fieldSelector('spec.nodeName', options.nodeName)", '{}'],
    [
      'fact: the controller of a record',
      podRecord,
      'apiVersion: traits.ownerApiVersion ??',
      "apiVersion: ''  ??",
    ],
    [
      'fact: a record without a controller',
      podRecord,
      'if (uid === undefined || name === undefined) return undefined;',
      '',
    ],
    [
      'fact: the deletion of a record',
      podRecord,
      'deletionAtMs: facts.deletionAtMs,',
      'deletionAtMs: undefined,',
    ],
    [
      'fact: the grace period of a record',
      podRecord,
      'deletionGracePeriodSeconds: facts.deletionGracePeriodSeconds,',
      'deletionGracePeriodSeconds: undefined,',
    ],
    ['fact: the finalizers of a record', podRecord, 'finalizers: facts.finalizers,', 'finalizers: [],'],
    ['fact: the labels of a record', podRecord, 'labels: facts.labels,', 'labels: {},'],
    ['fact: whether the pod of a record was started', podRecord, 'started: facts.started,', 'started: true,'],
    ['fact: a pod of a node without a UID', nodePods, "meta.uid === '' || ", ''],
    [
      'fact: the same state of a pod of the node',
      nodePods,
      'before.resourceVersion === message.metadata?.resourceVersion',
      'true',
    ],
    [
      'fact: the end of a pod of the node',
      nodePods,
      'meta.deletionTimestamp.seconds * 1000',
      'meta.deletionTimestamp.seconds',
    ],
    ['fact: evicted, not only failed', nodePods, " && reason === 'Evicted'", ''],
    ['fact: a finished pod uses no image', nodePods, 'if (isFinished(status)) return [];', ''],
    [
      'fact: the images of init containers',
      nodePods,
      '...[...containers, ...initContainers].map(',
      '...[...containers].map(',
    ],
    [
      'fact: the images of ephemeral containers',
      nodePods,
      "    ...ephemeralContainers.map((one) => one.ephemeralContainerCommon?.image ?? ''),\n",
      '',
    ],
    [
      'fact: the images of volumes',
      nodePods,
      "    ...volumes.map((one) => one.volumeSource?.image?.reference ?? ''),\n",
      '',
    ],
    ['fact: a reference that was cut names no image', nodePods, ' && !isCut(image)', ''],
    [
      'fact: more images than are kept',
      nodePods,
      'size <= bounds.images ? named : undefined',
      'size <= bounds.images ? named : []',
    ],
    ['fact: more containers than are read', nodePods, 'hasKeepLabel(meta) || !isRead', 'hasKeepLabel(meta)'],
    ['fact: ephemeral containers count', nodePods, ' + ephemeralContainers.length <=', ' <='],
    ['fact: more volumes than are read', nodePods, ' &&\n  volumes.length <= bounds.podParts', ''],
    [
      'fact: an image volume in JSON',
      nodePods,
      'image: { reference: boundedText(reference) }',
      "image: { reference: '' }",
    ],
    [
      'fact: an ephemeral container in JSON',
      nodePods,
      'ephemeralContainerCommon: { image: boundedText(one.image) }',
      "ephemeralContainerCommon: { image: '' }",
    ],
    [
      'fact: the end of a pod in JSON',
      nodePods,
      'deletionTimestamp: timeFromJson(meta.deletionTimestamp)',
      'deletionTimestamp: undefined',
    ],
    [
      'fact: a report without a UID',
      reports,
      "if (uid === '') throw new MalformedError('report without metadata.uid');",
      '',
    ],
    [
      'fact: the same state of a report',
      reports,
      'if (before?.resourceVersion === resourceVersion) return before;',
      'if (before !== undefined) return before;',
    ],
    [
      'fact: when a report was made',
      reports,
      'Number.isNaN(reportedAtMs) ? undefined : reportedAtMs',
      'reportedAtMs',
    ],
    [
      'fact: a request without its time',
      reports,
      ' || observedAtMs === undefined) return undefined;',
      ') return undefined;',
    ],
    ['fact: a request without its signal', reports, 'if (signal === undefined || ', 'if ('],
    ['fact: a request without its pod', reports, 'pod === undefined || observedAtMs', 'observedAtMs'],
    ['fact: a request without its usage', reports, 'observedBytes === undefined || limitBytes', 'limitBytes'],
    [
      'fact: a request without its limit',
      reports,
      'observedBytes === undefined || limitBytes === undefined',
      'observedBytes === undefined',
    ],
    ['fact: a negative number', reports, ' && value >= 0', ''],
    ['fact: the UID of the pod of a request', reports, ' && isText(uid, bounds.uid);', ';'],
    ['fact: more requests than an agent writes', reports, '    .slice(0, maxRequests)\n', ''],
    [
      'fact: a condition that is not True',
      reports,
      "type === condition && status === 'True'",
      'type === condition',
    ],
  ],
};
