import type { V1JobSpec, V1PodSpec, V1PodTemplateSpec } from '@kubernetes/client-node';
import { isCut } from '../../runtime/bounds.ts';
import {
  asObject,
  asObjects,
  asText,
  boundedText,
  numberFromJson,
  ownersFromJson,
  textsFromJson,
  type JsonObject,
  type Unchecked,
} from '../codec/json.ts';
import { readList, type Source } from './list-watch.ts';
import { controllerOf } from './owner-references.ts';
import { inJson } from './resources.ts';

const paths = {
  DaemonSet: 'apps/v1/daemonsets',
  CronJob: 'batch/v1/cronjobs',
  Job: 'batch/v1/jobs',
  Deployment: 'apps/v1/deployments',
  StatefulSet: 'apps/v1/statefulsets',
  ReplicaSet: 'apps/v1/replicasets',
} as const;

/** An object that creates pods, and what its pod template refers to. */
export interface Workload {
  readonly kind: keyof typeof paths;
  readonly namespace: string;
  readonly name: string;
  /** A controller owns it, such as the Deployment of a ReplicaSet. */
  readonly isOwned: boolean;
  readonly isSuspended: boolean;
  /** undefined = the kind has none. */
  readonly replicas: number | undefined;
  /** Of containers, init containers and image volumes. */
  readonly images: readonly string[];
  readonly nodeSelector: Readonly<Record<string, string>>;
}

/** Lists the workloads of all kinds that `isListed` accepts. Pages are read one object at a time: only those objects are held in memory. */
export async function listWorkloads(
  source: Omit<Source<Workload>, 'resource'>,
  isListed: (workload: Workload) => boolean,
  signal: AbortSignal,
): Promise<readonly Workload[]> {
  const lists: Workload[][] = [];
  for (const [kind, path] of Object.entries(paths) as [Workload['kind'], string][]) {
    const [, , name = ''] = path.split('/');
    const resource = inJson({ name, path: `/apis/${path}` }, (json) => workloadOf(kind, asObject(json)));
    const add = (list: Workload[], one: Workload): void => {
      if (isListed(one)) list.push(one);
    };
    lists.push((await readList({ ...source, resource }, { begin: () => [], add }, signal)).list);
  }
  return lists.flat();
}

function workloadOf(kind: Workload['kind'], { metadata, spec: ownSpec }: JsonObject): Workload {
  const { namespace, name, ownerReferences } = asObject(metadata);
  const { suspend, replicas, jobTemplate, template: ownTemplate } = asObject(ownSpec);
  const jobSpec: Unchecked<V1JobSpec> = asObject(asObject(jobTemplate)['spec']);
  const { spec }: Unchecked<V1PodTemplateSpec> = asObject(
    kind === 'CronJob' ? jobSpec.template : ownTemplate,
  );
  return {
    kind,
    namespace: asText(namespace),
    name: asText(name),
    isOwned: controllerOf(ownersFromJson(ownerReferences)) !== undefined,
    isSuspended: suspend === true,
    replicas: numberFromJson(replicas),
    images: imagesOf(asObject(spec)),
    nodeSelector: textsFromJson(asObject(spec).nodeSelector),
  };
}

function imagesOf({ containers, initContainers, volumes }: Unchecked<V1PodSpec>): readonly string[] {
  const images = [
    ...[...asObjects(containers), ...asObjects(initContainers)].map(({ image }) => image),
    ...asObjects(volumes).map((volume) => asObject(volume.image).reference),
  ].map(boundedText);
  return [...new Set(images)].filter((image) => image !== '' && !isCut(image));
}
