import { badRequest, conflict, notFound } from './failure.ts';
import { asObject, asText, type JsonObject, type KubeObject } from './json.ts';
import type { Call } from './request.ts';
import type { Resource } from './resources.ts';
import { timestamp } from './store.ts';

/** The response to a DELETE: the object where it stays for now or is a pod, else a Status. */
type Deleted = { readonly object: KubeObject } | { readonly status: JsonObject };

export function remove(call: Call): Deleted {
  const { store, resource, namespace, name, body } = call;
  const object = store.get(resource, namespace, name);
  if (object === undefined) throw notFound(resource, name);
  return removeObject(call, object, body);
}

/** Deletes as far as preconditions, finalizers and the grace period of a pod allow. */
export function removeObject({ store, resource }: Call, object: KubeObject, options: JsonObject): Deleted {
  checkPreconditions(resource, object, asObject(options['preconditions']));
  if (resource.kind === 'Namespace') return { object: store.put(resource, terminating(object)) };
  const marked = markedDeleted(object, graceSeconds(resource, object, options['gracePeriodSeconds']));
  const { finalizers = [], deletionGracePeriodSeconds } = marked.metadata;
  if (finalizers.length > 0 || deletionGracePeriodSeconds !== 0)
    return { object: marked === object ? object : store.put(resource, marked) };
  // A pod is seen terminating before it is seen deleted, even without grace.
  const last = resource.kind === 'Pod' && marked !== object ? store.put(resource, marked) : marked;
  const removed = store.remove(resource, last);
  if (resource.kind === 'Pod') return { object: removed };
  const details = { name: object.metadata.name, kind: resource.plural, uid: object.metadata.uid };
  return { status: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details } };
}

/** Throws 409 unless the object is the one that is meant. */
function checkPreconditions(resource: Resource, { metadata }: KubeObject, preconditions: JsonObject): void {
  for (const field of ['uid', 'resourceVersion'] as const) {
    const wanted = preconditions[field];
    if (wanted === undefined || wanted === metadata[field]) continue;
    const why = `the ${field} in the precondition (${asText(wanted)}) does not match the ${field} in record (${metadata[field]})`;
    // Preconditions name the kind where other conflicts name the resource.
    throw conflict({ ...resource, plural: resource.kind }, metadata.name, why);
  }
}

/** Only a pod on a node that has not finished gets time: its kubelet has to stop it. */
function graceSeconds({ kind }: Resource, object: KubeObject, wanted: unknown): number {
  if (wanted !== undefined && typeof wanted !== 'number')
    throw badRequest('gracePeriodSeconds must be a number');
  if (kind !== 'Pod') return 0;
  const spec = asObject(object['spec']);
  const phase = asText(asObject(object['status'])['phase']);
  if (asText(spec['nodeName']) === '' || phase === 'Succeeded' || phase === 'Failed') return 0;
  return wanted ?? Number(spec['terminationGracePeriodSeconds'] ?? 30);
}

/** The object with its deletion. A second deletion may only shorten the time that is left. */
function markedDeleted(object: KubeObject, grace: number): KubeObject {
  const { deletionTimestamp, deletionGracePeriodSeconds: before = 0, generation } = object.metadata;
  const isFirst = deletionTimestamp === undefined;
  if (!isFirst && grace >= before) return object;
  const endMs = isFirst ? Date.now() + grace * 1000 : Date.parse(deletionTimestamp) - (before - grace) * 1000;
  const deletion = { deletionTimestamp: timestamp(new Date(endMs)), deletionGracePeriodSeconds: grace };
  const counted = generation === undefined || !isFirst ? {} : { generation: generation + 1 };
  return { ...object, metadata: { ...object.metadata, ...counted, ...deletion } };
}

/** The sandbox has no controller that would empty the namespace. */
function terminating(namespace: KubeObject): KubeObject {
  const { metadata } = namespace;
  const deletionTimestamp = metadata.deletionTimestamp ?? timestamp();
  return {
    ...namespace,
    metadata: { ...metadata, deletionTimestamp },
    status: { phase: 'Terminating' },
  };
}
