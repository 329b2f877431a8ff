import { create } from './create.ts';
import { badRequest, cause, Failure, invalid, notFound, unsupportedMediaType } from './failure.ts';
import { incomingObject } from './incoming.ts';
import { asObject, isObject, type JsonObject, type KubeObject } from './json.ts';
import { mergePatch, strategicMergePatch } from './patch-apply.ts';
import { jsonPatch } from './patch-json.ts';
import type { RequestInfo } from './request-info.ts';
import { updatePatched, type Updated } from './update.ts';
import type { World } from './world.ts';

interface PatchBody {
  readonly type: string;
  readonly content: unknown;
}

const mergeType = 'application/merge-patch+json';
const strategicType = 'application/strategic-merge-patch+json';
const jsonType = 'application/json-patch+json';
export const applyType = 'application/apply-patch+yaml';

/** PATCH: the stored object with the patch on it. A resourceVersion in the patch must be the stored one's, a UID too. */
export function patch(world: World, info: RequestInfo, body: PatchBody): Updated {
  const { resource, namespace, name } = info;
  checkType(info, body.type);
  const old = world.store.get(resource, namespace, name);
  if (body.type === applyType) return apply(world, info, { content: asObject(body.content), old });
  if (old === undefined) throw notFound(resource, name);
  const incoming = decoded(info, patched(old, body), body.content);
  return {
    object: updatePatched(world, info, { incoming: unversioned(incoming, body.content), old }),
    created: false,
  };
}

function checkType({ resource }: RequestInfo, type: string): void {
  const types = [jsonType, mergeType, ...(resource.custom ? [] : [strategicType]), applyType];
  if (types.includes(type)) return;
  throw resource.custom
    ? unsupportedMediaType(
        `the body of the request was in an unknown format - accepted media types include: ${types.join(', ')}`,
      )
    : new Failure('415: Unsupported Media Type', { code: 415, reason: 'UnsupportedMediaType', details: {} });
}

function patched(old: KubeObject, { type, content }: PatchBody): JsonObject {
  if (type === jsonType) return asObject(jsonPatch(old, content));
  if (!isObject(content)) {
    throw badRequest(
      'error decoding patch: json: cannot unmarshal into Go value of type map[string]interface {}',
    );
  }
  return asObject(type === strategicType ? strategicMergePatch(old, content) : mergePatch(old, content));
}

function decoded(info: RequestInfo, object: JsonObject, content: unknown): KubeObject {
  try {
    return incomingObject(info, object);
  } catch (err) {
    if (!(err instanceof Failure) || !err.message.includes('parsing time')) throw err;
    const why = err.message.slice(err.message.indexOf('parsing time'));
    throw invalid({ group: '', plural: '', kind: '' }, '', [
      cause.invalid('patch', why, JSON.stringify(content)),
    ]);
  }
}

/** Only a patch that names a resourceVersion is bound to it. */
function unversioned(object: KubeObject, content: unknown): KubeObject {
  const metadata = asObject(asObject(content)['metadata']);
  if (metadata['resourceVersion'] !== undefined) return object;
  return { ...object, metadata: { ...object.metadata, resourceVersion: '' } };
}

/** Server-side apply without ownership: what is there is merged, what is not is created. */
function apply(
  world: World,
  info: RequestInfo,
  { content, old }: { readonly content: JsonObject; readonly old: KubeObject | undefined },
): Updated {
  if ((info.query.get('fieldManager') ?? '') === '') throw managerMissing();
  if (old === undefined) {
    if (info.subresource !== '') throw notFound(info.resource, info.name);
    return { object: create(world, { ...info, name: '' }, content), created: true };
  }
  const incoming = decoded(info, strategicMergePatch(old, content), content);
  return {
    object: updatePatched(world, info, { incoming: unversioned(incoming, content), old }),
    created: false,
  };
}

function managerMissing(): Failure {
  const required = cause.required('fieldManager', 'is required for apply patch');
  return invalid({ group: 'meta.k8s.io', plural: '', kind: 'PatchOptions' }, '', [required]);
}
