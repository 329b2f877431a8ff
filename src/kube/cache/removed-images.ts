import type { V1ObjectMeta } from '@kubernetes/client-node';
import type {
  NodeGCReport,
  NodeGCReportStatus,
  NodeGCReportStatusImages,
  NodeGCReportStatusImagesLastRemovedItem,
} from '../../api/gen/nodegcreport.gen.ts';
import type { RemovedImage } from '../../api/report/node-pass.ts';
import { parseRfc3339 } from '../../runtime/text/rfc3339.ts';
import { asObject, asObjects, asText, type Unchecked } from '../codec/json.ts';
import { MalformedError } from '../codec/frames.ts';
import { acceptJson } from '../http/media-types.ts';
import type { Identified } from './objects.ts';
import type { Resource } from './resources.ts';

/** The images that the agent of a node removed last, by its report. */
interface RemovedOnNode extends Identified {
  readonly removed: readonly RemovedImage[];
}

/** The removed images of one node, or of all nodes. The kind may be missing. */
export const removedImagesResource = (node: string | undefined): Resource<RemovedOnNode> => ({
  name: 'nodegcreports',
  path: '/apis/gc.dustpan.dev/v1alpha1/nodegcreports',
  query: node === undefined ? {} : { fieldSelector: `metadata.name=${node}` },
  accept: acceptJson,
  optional: true,
  codec: {
    fromProtobuf: () => {
      throw new MalformedError('custom resources have no protobuf form');
    },
    fromJson: (json) => {
      const { metadata, status }: Unchecked<NodeGCReport> = asObject(json);
      const { name, uid, resourceVersion }: Unchecked<V1ObjectMeta> = asObject(metadata);
      const { images }: Unchecked<NodeGCReportStatus> = asObject(status);
      const { lastRemoved }: Unchecked<NodeGCReportStatusImages> = asObject(images);
      return {
        ...{ uid: asText(uid), name: asText(name), resourceVersion: asText(resourceVersion) },
        removed: asObjects(lastRemoved).flatMap(removedOf),
      };
    },
  },
});

function removedOf(json: Unchecked<NodeGCReportStatusImagesLastRemovedItem>): RemovedImage[] {
  const { id, name, time, reason, policy } = json;
  const atMs = parseRfc3339(asText(time));
  if (atMs === undefined) return [];
  const what = {
    name: asText(name) === '' ? undefined : asText(name),
    ...{ reason: asText(reason), policy: asText(policy) },
  };
  return [{ digest: asText(id), atMs, what }];
}
