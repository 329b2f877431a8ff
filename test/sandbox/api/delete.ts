import { conflict, notFound } from './failure.ts';
import { asObject, asText, type JsonObject, type KubeObject } from './format/json.ts';
import type { Call } from './request.ts';
import type { Resource } from './resources.ts';
import { timestamp } from './store.ts';

/** DELETE: the object as it is then; the real server responds with a Status if it was no pod and is gone. */
export function remove(call: Call): KubeObject {
  const { store, resource, namespace, name, body } = call;
  const object = store.get(resource, namespace, name);
  if (object === undefined) throw notFound(resource, name);
  return removeObject(call, object, body);
}

/** Deletes as far as preconditions, finalizers and the grace period of a pod allow. */
export function removeObject({ store, resource }: Call, object: KubeObject, options: JsonObject): KubeObject {
  checkPreconditions(resource, object, asObject(options['preconditions']));
  if (resource.kind === 'Namespace') return store.put(resource, terminating(object));
  const deleting = withDeletion(object, graceSeconds(resource, object, options['gracePeriodSeconds']));
  const { finalizers = [], deletionGracePeriodSeconds } = deleting.metadata;
  if (finalizers.length > 0 || deletionGracePeriodSeconds !== 0)
    return deleting === object ? object : store.put(resource, deleting);
  // Watches see a pod terminating before they see it deleted, even without a grace period.
  const last = resource.kind === 'Pod' && deleting !== object ? store.put(resource, deleting) : deleting;
  return store.remove(resource, last);
}

/** Throws 409 unless the preconditions match. */
function checkPreconditions(resource: Resource, { metadata }: KubeObject, preconditions: JsonObject): void {
  for (const field of ['uid', 'resourceVersion'] as const) {
    const expected = preconditions[field];
    if (expected === undefined || expected === metadata[field]) continue;
    const why = `the ${field} in the precondition (${asText(expected)}) does not match the ${field} in record (${metadata[field]})`;
    // Preconditions name the kind where other conflicts name the resource.
    throw conflict({ ...resource, plural: resource.kind }, metadata.name, why);
  }
}

/** Only an unfinished pod on a node has a grace period: its kubelet has to stop it. */
function graceSeconds({ kind }: Resource, object: KubeObject, requested: unknown): number {
  if (kind !== 'Pod') return 0;
  const spec = asObject(object['spec']);
  const phase = asText(asObject(object['status'])['phase']);
  if (asText(spec['nodeName']) === '' || phase === 'Succeeded' || phase === 'Failed') return 0;
  return Number(requested ?? spec['terminationGracePeriodSeconds'] ?? 30);
}

/** Sets the deletion timestamp. A second deletion may only shorten the grace period; unlike a real server's, its end stays. */
function withDeletion(object: KubeObject, grace: number): KubeObject {
  const { deletionTimestamp: first, deletionGracePeriodSeconds: before = 0, generation } = object.metadata;
  if (first !== undefined && grace >= before) return object;
  const deletionTimestamp = first ?? timestamp(new Date(Date.now() + grace * 1000));
  const counted = generation === undefined || first !== undefined ? {} : { generation: generation + 1 };
  const deletion = { deletionTimestamp, deletionGracePeriodSeconds: grace };
  return { ...object, metadata: { ...object.metadata, ...counted, ...deletion } };
}

/** The sandbox does not empty the namespace. */
function terminating(namespace: KubeObject): KubeObject {
  const { metadata } = namespace;
  const deletionTimestamp = metadata.deletionTimestamp ?? timestamp();
  return {
    ...namespace,
    metadata: { ...metadata, deletionTimestamp },
    status: { phase: 'Terminating' },
  };
}
