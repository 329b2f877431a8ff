import { create } from './create.ts';
import { deleteOptions } from './delete-options.ts';
import { remove, removeObject } from './delete.ts';
import type { Page } from './encode.ts';
import { evict } from './evict.ts';
import { notFound } from './failure.ts';
import { isObject, asObject, type JsonObject, type KubeObject } from './json.ts';
import { list } from './list.ts';
import { revisionOf, tooLarge } from './list-options.ts';
import { patch } from './patch.ts';
import type { RequestInfo } from './request-info.ts';
import { update, type Updated } from './update.ts';
import type { World } from './world.ts';

export interface RequestBody {
  readonly type: string;
  readonly content: unknown;
}

export type Answer =
  | { readonly kind: 'object'; readonly code: number; readonly object: KubeObject }
  | { readonly kind: 'list'; readonly page: Page }
  | { readonly kind: 'status'; readonly code: number; readonly status: JsonObject };

/** Every verb but watch. */
export function dispatch(world: World, info: RequestInfo, body: RequestBody | undefined): Answer {
  const content = asObject(body?.content);
  switch (info.verb) {
    case 'get':
      return { kind: 'object', code: 200, object: get(world, info) };
    case 'list':
      return { kind: 'list', page: list(world, info) };
    case 'create':
      return created(world, info, content);
    case 'update':
      return updated(update(world, info, content));
    case 'patch':
      return updated(patch(world, info, { type: body?.type ?? '', content: body?.content }));
    case 'delete':
      return deleted(world, info, body?.content);
    case 'deletecollection':
      return deletedCollection(world, info, body?.content);
    case 'watch':
      throw new Error('a watch has no answer');
  }
}

function get({ store }: World, { resource, namespace, name, query }: RequestInfo): KubeObject {
  const revision = revisionOf(query.get('resourceVersion'));
  if (revision > store.revision) throw tooLarge(revision, store.revision);
  const object = store.get(resource, namespace, name);
  if (object === undefined) throw notFound(resource, name);
  return object;
}

function created(world: World, info: RequestInfo, content: JsonObject): Answer {
  if (info.subresource === 'eviction')
    return { kind: 'status', code: 201, status: evict(world, info, content) };
  return { kind: 'object', code: 201, object: create(world, info, content) };
}

function updated({ object, created: isNew }: Updated): Answer {
  return { kind: 'object', code: isNew ? 201 : 200, object };
}

function deleted(world: World, info: RequestInfo, content: unknown): Answer {
  const result = remove(world, info, deleteOptions(isObject(content) ? content : undefined, info.query));
  if ('object' in result) return { kind: 'object', code: 200, object: result.object };
  return { kind: 'status', code: 200, status: result.status };
}

function deletedCollection(world: World, info: RequestInfo, content: unknown): Answer {
  const options = deleteOptions(isObject(content) ? content : undefined, info.query);
  const page = list(world, info);
  for (const object of page.items) removeObject(world, { resource: info.resource, object }, options);
  return { kind: 'list', page };
}
