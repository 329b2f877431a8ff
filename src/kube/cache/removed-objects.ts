import type {
  NodeGCReport,
  NodeGCReportStatusContainersLastRemovedItem,
} from '../../api/gen/nodegcreport.gen.ts';
import type { PodRef } from '../../api/pod-ref.ts';
import { parseRfc3339 } from '../../runtime/text/rfc3339.ts';
import { asObject, asObjects, asText, numberFromJson, type Unchecked } from '../codec/json.ts';
import type { Identified } from './objects.ts';
import { identityOf, inJson, reportsPath, type Resource } from './resources.ts';

const kinds = [
  'Image',
  'Container',
  'Sandbox',
  'LogDirectory',
  'LogLink',
  'LogFile',
  'PodDirectory',
  'PodCgroup',
] as const;

/** An object that dustpan removed from a node, as `why` names it. */
export interface RemovedObject {
  readonly kind: (typeof kinds)[number];
  /** Its id or its path; of an image, its id or one of its repository digests. */
  readonly id: string;
  /** Of a container its name, of an image a tag or else a digest; undefined = it had none. */
  readonly name: string | undefined;
  /** undefined = unknown. */
  readonly pod: PodRef | undefined;
  /** '' = an older agent recorded the removal. */
  readonly reason: string;
  /** The policy that governed the node; '' = an older agent recorded the removal. */
  readonly policy: string;
  /** Bytes of the files that were removed; undefined = none or unknown. */
  readonly bytes: number | undefined;
  readonly atMs: number;
}

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
