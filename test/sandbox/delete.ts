import { checkPreconditions, type DeleteOptions } from './delete-options.ts';
import { notFound } from './failure.ts';
import { asObject, asText, type JsonObject, type KubeObject, type ObjectMeta } from './json.ts';
import type { RequestInfo } from './request-info.ts';
import type { Resource } from './resources.ts';
import { timestamp, type World } from './world.ts';

/** The answer to a DELETE: the object where it lingers or is a pod, else a Status. */
type Deleted = { readonly object: KubeObject } | { readonly status: JsonObject };

export function remove(world: World, info: RequestInfo, options: DeleteOptions): Deleted {
  const { resource, namespace, name } = info;
  const object = world.store.get(resource, namespace, name);
  if (object === undefined) throw notFound(resource, name);
  return removeObject(world, { resource, object }, options);
}

/** Deletes as far as finalizers and the grace period of a pod allow. */
export function removeObject(world: World, doomed: Doomed, options: DeleteOptions): Deleted {
  const { resource, object } = doomed;
  checkPreconditions(resource, object, options);
  if (resource.kind === 'Namespace') return { object: terminateNamespace(world, doomed, options) };
  const marked = mark(object, graceSeconds(resource, object, options), world.now());
  const stays =
    (marked.metadata.finalizers ?? []).length > 0 || marked.metadata.deletionGracePeriodSeconds !== 0;
  if (options.dryRun) return answer(resource, marked, stays);
  if (stays) return { object: marked === object ? object : world.store.put(resource, marked) };
  // A pod is seen terminating before it is seen deleted, even without grace.
  const last = resource.kind === 'Pod' && marked !== object ? world.store.put(resource, marked) : marked;
  return answer(resource, world.store.remove(resource, last), stays);
}

interface Doomed {
  readonly resource: Resource;
  readonly object: KubeObject;
}

function answer(resource: Resource, object: KubeObject, stays: boolean): Deleted {
  if (stays || resource.kind === 'Pod') return { object };
  const { group, plural } = resource;
  const { name, uid } = object.metadata;
  const details = { name, ...(group === '' ? {} : { group }), kind: plural, uid };
  return { status: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details } };
}

/** Only a pod on a node that has not finished gets time: its kubelet has to stop it. */
function graceSeconds(resource: Resource, object: KubeObject, { gracePeriodSeconds }: DeleteOptions): number {
  if (resource.kind !== 'Pod') return 0;
  const spec = asObject(object['spec']);
  const phase = asText(asObject(object['status'])['phase']);
  if (asText(spec['nodeName']) === '' || phase === 'Succeeded' || phase === 'Failed') return 0;
  const seconds = gracePeriodSeconds ?? Number(spec['terminationGracePeriodSeconds'] ?? 30);
  return seconds < 0 ? 1 : seconds;
}

/** The object with its deletion written on it. A second deletion may only shorten the time that is left. */
function mark(object: KubeObject, grace: number, now: Date): KubeObject {
  const { deletionTimestamp, deletionGracePeriodSeconds: before = 0 } = object.metadata;
  if (deletionTimestamp === undefined) {
    return marked(object, { at: new Date(now.getTime() + grace * 1000), grace, generation: 1 });
  }
  if (grace >= before) return object;
  const at = new Date(Date.parse(deletionTimestamp) - (before - grace) * 1000);
  return marked(object, { at, grace, generation: 0 });
}

interface Mark {
  readonly at: Date;
  readonly grace: number;
  /** How much the generation grows. */
  readonly generation: number;
}

function marked(object: KubeObject, { at, grace, generation }: Mark): KubeObject {
  const { metadata } = object;
  const counted = metadata.generation === undefined ? {} : { generation: metadata.generation + generation };
  const deletion = { deletionTimestamp: timestamp(at), deletionGracePeriodSeconds: grace };
  const next: ObjectMeta = { ...metadata, ...counted, ...deletion };
  return { ...object, metadata: next };
}

function terminateNamespace(
  world: World,
  { resource, object }: Doomed,
  { dryRun }: DeleteOptions,
): KubeObject {
  const deletionTimestamp = object.metadata.deletionTimestamp ?? timestamp(world.now());
  const metadata = { ...object.metadata, deletionTimestamp };
  const terminating = { ...object, metadata, status: { phase: 'Terminating' } };
  return dryRun ? terminating : world.store.put(resource, terminating);
}
