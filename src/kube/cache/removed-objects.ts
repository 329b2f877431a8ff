import type {
  NodeGCReport,
  NodeGCReportStatusContainersLastRemovedItem,
} from '../../api/gen/nodegcreport.gen.ts';
import type { PodRef } from '../../api/pod-ref.ts';
import type { RemovedKind, RemovedObject } from '../../api/report/node-pass.ts';
import { parseRfc3339 } from '../../runtime/text/rfc3339.ts';
import { asObject, asObjects, asText, numberFromJson, type Unchecked } from '../codec/json.ts';
import type { Identified } from './objects.ts';
import { identityOf, inJson, reportsPath, type Resource } from './resources.ts';

interface RemovedOnNode extends Identified {
  readonly removed: readonly RemovedObject[];
}

/** The removed objects of one node, or of all nodes. The kind may be missing. */
export function removedObjectsResource(node: string | undefined): Resource<RemovedOnNode> {
  const query = node === undefined ? {} : { fieldSelector: `metadata.name=${node}` };
  return inJson({ name: 'nodegcreports', path: reportsPath, query }, (json) => {
    const { images, containers } = asObject(asObject<NodeGCReport>(json).status);
    return {
      ...identityOf(json),
      removed: [
        ...asObjects(asObject(images).lastRemoved).flatMap((image) => removedOf(image, 'Image')),
        ...asObjects(asObject(containers).lastRemoved).flatMap((other) => removedOf(other, other.kind)),
      ],
    };
  });
}

const kinds: readonly (RemovedKind | 'Image')[] = [
  'Image',
  'Container',
  'Sandbox',
  'LogDirectory',
  'LogLink',
  'LogFile',
  'PodDirectory',
  'PodCgroup',
];

/** An object of an unknown kind, which a newer agent may report, is left out, and one without an id. */
function removedOf(
  json: Omit<Unchecked<NodeGCReportStatusContainersLastRemovedItem>, 'kind'>,
  given: unknown,
): RemovedObject[] {
  const { id, name, pod, time, reason, policy, bytes } = json;
  const kind = kinds.find((one) => one === given);
  const atMs = parseRfc3339(asText(time));
  const size = numberFromJson(bytes) ?? 0;
  if (kind === undefined || atMs === undefined || asText(id) === '') return [];
  const removed = { kind, id: asText(id), reason: asText(reason), policy: asText(policy), atMs };
  return [{ ...removed, name: textOrUndefined(name), pod: podOf(pod), bytes: size > 0 ? size : undefined }];
}

function podOf(json: unknown): PodRef | undefined {
  const { uid, namespace, name } = asObject<PodRef>(json);
  if (asText(uid) === '') return undefined;
  return { uid: asText(uid), namespace: textOrUndefined(namespace), name: textOrUndefined(name) };
}

const textOrUndefined = (json: unknown): string | undefined =>
  asText(json) === '' ? undefined : asText(json);
