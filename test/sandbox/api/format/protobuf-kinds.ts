import { asObject } from './json.ts';
import { encodeMessage, type MessageFields } from './protobuf.ts';

// Field numbers of k8s.io/apimachinery and k8s.io/api, generated.proto, v0.36. Includes some fields that dustpan's decoders skip.

const ownerReference: MessageFields = {
  kind: [1, 'string'],
  name: [3, 'string'],
  uid: [4, 'string'],
  apiVersion: [5, 'string'],
  controller: [6, 'bool'],
};

const managedFieldsEntry: MessageFields = {
  manager: [1, 'string'],
  operation: [2, 'string'],
  apiVersion: [3, 'string'],
  time: [4, 'time'],
  fieldsType: [6, 'string'],
  fieldsV1: [7, 'rawJson'],
  subresource: [8, 'string'],
};

const objectMeta: MessageFields = {
  name: [1, 'string'],
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
  managedFields: [17, { repeated: managedFieldsEntry }],
};

export const metadataOnly: MessageFields = { metadata: [1, { message: objectMeta }] };

const condition: MessageFields = {
  type: [1, 'string'],
  status: [2, 'string'],
  lastTransitionTime: [4, 'time'],
  reason: [5, 'string'],
  message: [6, 'string'],
};

const terminated: MessageFields = {
  exitCode: [1, 'int'],
  reason: [3, 'string'],
  message: [4, 'string'],
  finishedAt: [6, 'time'],
};

const containerState: MessageFields = {
  waiting: [1, { message: { reason: [1, 'string'], message: [2, 'string'] } }],
  running: [2, { message: { startedAt: [1, 'time'] } }],
  terminated: [3, { message: terminated }],
};

const containerStatus: MessageFields = {
  name: [1, 'string'],
  state: [2, { message: containerState }],
  lastState: [3, { message: containerState }],
  image: [6, 'string'],
  imageID: [7, 'string'],
};

const container: MessageFields = {
  name: [1, 'string'],
  image: [2, 'string'],
  resources: [8, { message: { limits: [1, 'quantityMap'], requests: [2, 'quantityMap'] } }],
  imagePullPolicy: [14, 'string'],
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
  nodeName: [10, 'string'],
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
  startTime: [7, 'time'],
  containerStatuses: [8, { repeated: containerStatus }],
  initContainerStatuses: [10, { repeated: containerStatus }],
  ephemeralContainerStatuses: [13, { repeated: containerStatus }],
};

const nodeSpec: MessageFields = {
  unschedulable: [4, 'bool'],
  taints: [5, { repeated: { key: [1, 'string'], value: [2, 'string'], effect: [3, 'string'] } }],
};

const nodeStatus: MessageFields = {
  allocatable: [2, 'quantityMap'],
  conditions: [4, { repeated: condition }],
  nodeInfo: [7, { message: { containerRuntimeVersion: [6, 'string'] } }],
};

/** Kinds with a protobuf form. */
export const binaryKinds: Readonly<Record<string, MessageFields>> = {
  Pod: { ...metadataOnly, spec: [2, { message: podSpec }], status: [3, { message: podStatus }] },
  Node: { ...metadataOnly, spec: [2, { message: nodeSpec }], status: [3, { message: nodeStatus }] },
  Namespace: { ...metadataOnly, status: [3, { message: { phase: [1, 'string'] } }] },
  Job: { ...metadataOnly, status: [3, { message: { conditions: [1, { repeated: condition }] } }] },
  ReplicaSet: { ...metadataOnly, status: [3, { message: { replicas: [1, 'int'] } }] },
};

/** An object of one of these kinds in protobuf, without an envelope. */
export const protobufOf = (kind: string, object: object): Buffer =>
  Buffer.from(encodeMessage(asObject(object), binaryKinds[kind] ?? {}));

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
};

export const statusMessage: MessageFields = {
  metadata: [1, { message: listMeta }],
  status: [2, 'string'],
  message: [3, 'string'],
  reason: [4, 'string'],
  details: [5, { message: statusDetails }],
  code: [6, 'int'],
};
