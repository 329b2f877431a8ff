import type { V1ObjectMeta } from '@kubernetes/client-node';
import type {
  NodeGCReport,
  NodeGCReportStatus,
  NodeGCReportStatusContainers,
  NodeGCReportStatusContainersLastRemovedItem,
  NodeGCReportStatusImages,
} from '../../api/gen/nodegcreport.gen.ts';
import type { PodRef } from '../../api/pod-ref.ts';
import type { RemovedKind, RemovedObject } from '../../api/report/node-pass.ts';
import { parseRfc3339 } from '../../runtime/text/rfc3339.ts';
import { asObject, asObjects, asText, numberFromJson, type Unchecked } from '../codec/json.ts';
import type { Identified } from './objects.ts';
import { inJson, reportsPath, type Resource } from './resources.ts';

interface RemovedOnNode extends Identified {
  readonly removed: readonly RemovedObject[];
}

/** The removed objects of one node, or of all nodes. The kind may be missing. */
export function removedObjectsResource(node: string | undefined): Resource<RemovedOnNode> {
  const query = node === undefined ? {} : { fieldSelector: `metadata.name=${node}` };
  return inJson({ name: 'nodegcreports', path: reportsPath, query }, (json) => {
    const { metadata, status }: Unchecked<NodeGCReport> = asObject(json);
    const { name, uid, resourceVersion }: Unchecked<V1ObjectMeta> = asObject(metadata);
    const { images, containers }: Unchecked<NodeGCReportStatus> = asObject(status);
    const ofImages: Unchecked<NodeGCReportStatusImages> = asObject(images);
    const others: Unchecked<NodeGCReportStatusContainers> = asObject(containers);
    return {
      uid: asText(uid),
      name: asText(name),
      resourceVersion: asText(resourceVersion),
      removed: [
        ...asObjects(ofImages.lastRemoved).flatMap((one) => removedOf({ ...one, kind: 'Image' })),
        ...asObjects(others.lastRemoved).flatMap(removedOf),
      ],
    };
  });
}

const kinds: readonly (RemovedKind | 'Image')[] = [
  ...(['Image', 'Container', 'Sandbox', 'LogDirectory', 'LogLink', 'LogFile'] as const),
  ...(['PodDirectory', 'PodCgroup'] as const),
];

/** An object of an unknown kind, which a newer agent may report, is left out, and one without an id. */
function removedOf(json: Unchecked<NodeGCReportStatusContainersLastRemovedItem>): RemovedObject[] {
  const { id, name, pod, time, reason, policy, bytes } = json;
  const kind = kinds.find((one) => one === json.kind);
  const atMs = parseRfc3339(asText(time));
  const size = numberFromJson(bytes) ?? 0;
  if (kind === undefined || atMs === undefined || asText(id) === '') return [];
  return [
    {
      kind,
      id: asText(id),
      name: textOrUndefined(name),
      pod: podOf(pod),
      reason: asText(reason),
      policy: asText(policy),
      bytes: size > 0 ? size : undefined,
      atMs,
    },
  ];
}

function podOf(json: unknown): PodRef | undefined {
  const { uid, namespace, name }: Unchecked<PodRef> = asObject(json);
  if (asText(uid) === '') return undefined;
  return { uid: asText(uid), namespace: textOrUndefined(namespace), name: textOrUndefined(name) };
}

const textOrUndefined = (json: unknown): string | undefined =>
  asText(json) === '' ? undefined : asText(json);
