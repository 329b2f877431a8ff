import {
  readStatus,
  type NodeGCReport,
  type NodeGCReportStatusContainersLastRemovedItem,
} from '../../api/gen/nodegcreport.gen.ts';
import { parseRfc3339 } from '../../runtime/text/rfc3339.ts';
import { asObject } from '../codec/json.ts';
import type { Identified } from './objects.ts';
import { identityOf, inJson, reportsPath, type Resource } from './resources.ts';

type Removed = Omit<NodeGCReportStatusContainersLastRemovedItem, 'kind'> & {
  readonly kind: NodeGCReportStatusContainersLastRemovedItem['kind'] | 'Image';
};

/** An object that dustpan removed from a node, as `why` names it. */
export interface RemovedObject extends Omit<Removed, 'time'> {
  readonly atMs: number;
}

interface RemovedOnNode extends Identified {
  readonly removed: readonly RemovedObject[];
}

/** The removed objects of one node, or of all nodes. The kind may be missing. */
export function removedObjectsResource(node: string | undefined): Resource<RemovedOnNode> {
  const query = node === undefined ? {} : { fieldSelector: `metadata.name=${node}` };
  return inJson({ name: 'nodegcreports', path: reportsPath, query }, (json) => {
    const { images, containers } = readStatus(asObject<NodeGCReport>(json).status);
    const removedImages = images?.lastRemoved ?? [];
    return {
      ...identityOf(json),
      removed: [
        ...removedImages.flatMap((image) => removedOf({ ...image, kind: 'Image' })),
        ...(containers?.lastRemoved ?? []).flatMap(removedOf),
      ],
    };
  });
}

function removedOf({ time, ...removed }: Removed): RemovedObject[] {
  const atMs = parseRfc3339(time);
  return atMs === undefined || removed.id === '' ? [] : [{ ...removed, atMs }];
}
