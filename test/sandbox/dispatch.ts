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
import type { RequestInfo, Verb } from './request-info.ts';
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

type Handler = (world: World, info: RequestInfo, body: RequestBody | undefined) => Answer;

const handlers: Readonly<Record<Exclude<Verb, 'watch'>, Handler>> = {
  get: (world, info) => ({ kind: 'object', code: 200, object: get(world, info) }),
  list: (world, info) => ({ kind: 'list', page: list(world, info) }),
  create: (world, info, body) => created(world, info, asObject(body?.content)),
  update: (world, info, body) => updated(update(world, info, asObject(body?.content))),
  patch: (world, info, body) =>
    updated(patch(world, info, { type: body?.type ?? '', content: body?.content })),
  delete: (world, info, body) => deleted(world, info, body?.content),
  deletecollection: (world, info, body) => deletedCollection(world, info, body?.content),
};

/** Every verb but watch, which has no end. */
export function dispatch(world: World, info: RequestInfo, body: RequestBody | undefined): Answer {
  if (info.verb === 'watch') throw new Error('a watch has no answer');
  return handlers[info.verb](world, info, body);
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
