import { invalidValue, type StatusCause } from './failure.ts';
import { asObject, asText, type JsonObject, type KubeObject } from './format/json.ts';

interface Admitted {
  readonly object: KubeObject;
  readonly causes: readonly StatusCause[];
}

export interface Rules {
  /** Whether metadata.generation counts changes of the spec. */
  readonly countsGenerations: boolean;
  /** The creator of an object sets its status, like a kubelet that registers its node. */
  readonly keepsStatus?: true;
  /** PUT needs a resourceVersion. */
  readonly needsVersion?: true;
  admit(object: KubeObject, old: KubeObject | undefined): Admitted;
  /** Additional fields for a fieldSelector. */
  readonly fields?: (object: JsonObject) => Readonly<Record<string, unknown>>;
}

export const plainRules: Rules = {
  countsGenerations: true,
  admit: (object) => ({ object, causes: [] }),
};

const whenNew =
  (complete: (object: KubeObject) => KubeObject): Rules['admit'] =>
  (object, old) => ({ object: old === undefined ? complete(object) : object, causes: [] });

/** Defaults that dustpan or a test reads. */
const podDefaults = { restartPolicy: 'Always', terminationGracePeriodSeconds: 30 };

const podRules: Rules = {
  countsGenerations: true,
  admit: whenNew((pod) => ({
    ...pod,
    spec: { ...podDefaults, ...asObject(pod['spec']) },
    status: { phase: 'Pending', qosClass: 'BestEffort' },
  })),
  fields: ({ spec }) => ({ 'spec.nodeName': asObject(spec)['nodeName'] }),
};

const notReady = [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }];

const nodeRules: Rules = {
  countsGenerations: false,
  keepsStatus: true,
  admit: whenNew((node) => ({ ...node, spec: { taints: notReady, ...asObject(node['spec']) } })),
};

const namespaceRules: Rules = {
  countsGenerations: false,
  admit: whenNew((namespace) => {
    const { metadata } = namespace;
    const labels = { ...metadata.labels, 'kubernetes.io/metadata.name': metadata.name };
    return { ...namespace, metadata: { ...metadata, labels }, status: { phase: 'Active' } };
  }),
};

const leaseRules: Rules = { ...plainRules, countsGenerations: false, needsVersion: true };

const eventRules: Rules = {
  countsGenerations: false,
  admit: (object, old) => ({ object, causes: old === undefined ? newEvent(object) : [] }),
  fields: ({ reason, reportingController }) => ({ reason, reportingController }),
};

export const rulesOf: Readonly<Record<string, Rules>> = {
  Pod: podRules,
  Node: nodeRules,
  Namespace: namespaceRules,
  ServiceAccount: { ...plainRules, countsGenerations: false },
  Lease: leaseRules,
  Event: eventRules,
};

const maxNoteBytes = 1024;
const maxTextBytes = 128;
function newEvent(event: KubeObject): readonly StatusCause[] {
  const { series, regarding, note } = event;
  const isClusterScoped = asText(asObject(regarding)['namespace']) === '';
  const isMisplaced = isClusterScoped && event.metadata.namespace !== 'default';
  const problems: readonly (readonly [isWrong: boolean, cause: StatusCause])[] = [
    [isMisplaced, invalidValue('involvedObject.namespace', 'does not match event.namespace')],
    [
      series !== undefined && Number(asObject(series)['count']) < 2,
      invalidValue('series.count', 'should be at least 2'),
    ],
    [
      Buffer.byteLength(asText(note)) > maxNoteBytes,
      invalidValue('message', `can have at most ${maxNoteBytes} characters`),
    ],
  ];
  const texts = ['reportingInstance', 'action', 'reason'].flatMap((field) => textCauses(event, field));
  return [...problems.filter(([isWrong]) => isWrong).map(([, cause]) => cause), ...texts];
}

function textCauses(event: JsonObject, field: string): readonly StatusCause[] {
  const bytes = Buffer.byteLength(asText(event[field]));
  return bytes === 0 || bytes > maxTextBytes
    ? [invalidValue(field, `can have 1 to ${maxTextBytes} characters`)]
    : [];
}

const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** The problems in the metadata of any object. */
export function metadataCauses({ metadata: { name } }: KubeObject): readonly StatusCause[] {
  if (subdomain.test(name) && name.length <= 253) return [];
  return [invalidValue('metadata.name', 'a lowercase RFC 1123 subdomain is required', name)];
}
