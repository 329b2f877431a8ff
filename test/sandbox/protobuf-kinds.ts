import type { MessageFields } from './protobuf.ts';

// Field numbers of k8s.io/apimachinery and k8s.io/api, generated.proto, v0.36. More than dustpan reads, so that its decoders have something to skip.

const ownerReference: MessageFields = {
  kind: [1, 'string'],
  name: [3, 'string'],
  uid: [4, 'string'],
  apiVersion: [5, 'string'],
  controller: [6, 'bool'],
  blockOwnerDeletion: [7, 'bool'],
};

const objectMeta: MessageFields = {
  name: [1, 'string'],
  generateName: [2, 'string'],
  namespace: [3, 'string'],
  uid: [5, 'string'],
  resourceVersion: [6, 'string'],
  generation: [7, 'int'],
  creationTimestamp: [8, 'time'],
  deletionTimestamp: [9, 'time'],
  deletionGracePeriodSeconds: [10, 'int'],
  labels: [11, 'stringMap'],
  annotations: [12, 'stringMap'],
  ownerReferences: [13, { repeated: ownerReference }],
  finalizers: [14, { repeated: 'string' }],
};

export const metadataOnly: MessageFields = { metadata: [1, { message: objectMeta }] };

const condition: MessageFields = {
  type: [1, 'string'],
  status: [2, 'string'],
  lastProbeTime: [3, 'time'],
  lastTransitionTime: [4, 'time'],
  reason: [5, 'string'],
  message: [6, 'string'],
};

const terminated: MessageFields = {
  exitCode: [1, 'int'],
  reason: [3, 'string'],
  message: [4, 'string'],
  startedAt: [5, 'time'],
  finishedAt: [6, 'time'],
  containerID: [7, 'string'],
};

const containerState: MessageFields = {
  running: [2, { message: { startedAt: [1, 'time'] } }],
  terminated: [3, { message: terminated }],
};

const containerStatus: MessageFields = {
  name: [1, 'string'],
  state: [2, { message: containerState }],
  lastState: [3, { message: containerState }],
  ready: [4, 'bool'],
  restartCount: [5, 'int'],
  image: [6, 'string'],
  imageID: [7, 'string'],
  containerID: [8, 'string'],
};

const container: MessageFields = {
  name: [1, 'string'],
  image: [2, 'string'],
  resources: [8, { message: { limits: [1, 'quantityMap'], requests: [2, 'quantityMap'] } }],
  restartPolicy: [24, 'string'],
};

const volumeSource: MessageFields = {
  emptyDir: [2, { message: { medium: [1, 'string'], sizeLimit: [2, 'quantity'] } }],
  image: [30, { message: { reference: [1, 'string'], pullPolicy: [2, 'string'] } }],
};

const podSpec: MessageFields = {
  volumes: [1, { repeated: { name: [1, 'string'], volumeSource: [2, { inline: volumeSource }] } }],
  containers: [2, { repeated: container }],
  restartPolicy: [3, 'string'],
  terminationGracePeriodSeconds: [4, 'int'],
  nodeSelector: [7, 'stringMap'],
  serviceAccountName: [8, 'string'],
  nodeName: [10, 'string'],
  schedulerName: [19, 'string'],
  priorityClassName: [24, 'string'],
  initContainers: [20, { repeated: container }],
  priority: [25, 'int'],
  overhead: [32, 'quantityMap'],
  ephemeralContainers: [34, { repeated: { ephemeralContainerCommon: [1, { inline: container }] } }],
};

const podStatus: MessageFields = {
  phase: [1, 'string'],
  conditions: [2, { repeated: condition }],
  message: [3, 'string'],
  reason: [4, 'string'],
  hostIP: [5, 'string'],
  podIP: [6, 'string'],
  startTime: [7, 'time'],
  containerStatuses: [8, { repeated: containerStatus }],
  qosClass: [9, 'string'],
  initContainerStatuses: [10, { repeated: containerStatus }],
  ephemeralContainerStatuses: [13, { repeated: containerStatus }],
};

const nodeSpec: MessageFields = {
  providerID: [3, 'string'],
  unschedulable: [4, 'bool'],
  taints: [5, { repeated: { key: [1, 'string'], value: [2, 'string'], effect: [3, 'string'] } }],
};

const nodeStatus: MessageFields = {
  conditions: [
    4,
    {
      repeated: {
        type: [1, 'string'],
        status: [2, 'string'],
        lastHeartbeatTime: [3, 'time'],
        lastTransitionTime: [4, 'time'],
        reason: [5, 'string'],
        message: [6, 'string'],
      },
    },
  ],
  addresses: [5, { repeated: { type: [1, 'string'], address: [2, 'string'] } }],
};

const jobStatus: MessageFields = {
  conditions: [1, { repeated: condition }],
  startTime: [2, 'time'],
  completionTime: [3, 'time'],
  active: [4, 'int'],
  succeeded: [5, 'int'],
  failed: [6, 'int'],
};

/** The kinds that the sandbox can write as protobuf. */
export const binaryKinds: Readonly<Record<string, MessageFields>> = {
  Pod: { ...metadataOnly, spec: [2, { message: podSpec }], status: [3, { message: podStatus }] },
  Node: { ...metadataOnly, spec: [2, { message: nodeSpec }], status: [3, { message: nodeStatus }] },
  Namespace: { ...metadataOnly, status: [3, { message: { phase: [1, 'string'] } }] },
  Job: { ...metadataOnly, status: [3, { message: jobStatus }] },
  ReplicaSet: { ...metadataOnly, status: [3, { message: { replicas: [1, 'int'] } }] },
};

const statusDetails: MessageFields = {
  name: [1, 'string'],
  group: [2, 'string'],
  kind: [3, 'string'],
  causes: [4, { repeated: { reason: [1, 'string'], message: [2, 'string'], field: [3, 'string'] } }],
  retryAfterSeconds: [5, 'int'],
  uid: [6, 'string'],
};

export const listMeta: MessageFields = {
  resourceVersion: [2, 'string'],
  continue: [3, 'string'],
  remainingItemCount: [4, 'int'],
};

export const statusMessage: MessageFields = {
  metadata: [1, { message: listMeta }],
  status: [2, 'string'],
  message: [3, 'string'],
  reason: [4, 'string'],
  details: [5, { message: statusDetails }],
  code: [6, 'int'],
};
