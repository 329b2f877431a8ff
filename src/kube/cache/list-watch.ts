import type { Clock } from '../../runtime/scheduling/clock.ts';
import { stallGuard } from '../http/abort.ts';
import type { Page } from '../codec/list.ts';
import { decodeList, decodeWatchEvent, type WatchEvent } from '../codec/decode.ts';
import { FrameSplitter } from '../codec/frames.ts';
import type { Resource } from './resources.ts';
import type { KubeRequest, KubeTransport } from '../http/transport.ts';

/** One resource of one server. */
export interface Source<T> {
  readonly transport: KubeTransport;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly resource: Resource<T>;
  /** Objects of one page of a list; `all`: one page holds everything, for what is known to be little. */
  readonly pageSize?: number | 'all';
}

/** As client-go: each page is a request, so it must not be tiny. */
const defaultPageSize = 500;
/** The API server gives up on a list after a minute, too. */
const pageTimeoutMs = 60_000;
const pageRetries = 4;
/** As client-go: spread, so that watches opened together do not end together. */
const watchSeconds = { atLeast: 300, spread: 301 };
const stallGraceMs = 30_000;

/**
 * A consistent list (no resourceVersion), page by page: the watch cache would answer in one piece. In one page it is the watch cache that
 * answers (Kubernetes 1.31 on), by its index of nodes; a page of a node's pods is searched among all pods of the store before 1.33.
 */
export async function* listPages<T>(source: Source<T>, signal: AbortSignal): AsyncGenerator<Page<T>> {
  let page = await readPage(source, '', signal);
  yield page;
  while (page.continueToken !== '') {
    page = await readPage(source, page.continueToken, signal);
    yield page;
  }
}

/** Every event after `resourceVersion`, in batches as they arrive. Ends when the server ends the watch, or should have ended it. */
export async function* watchEvents<T>(
  source: Source<T>,
  resourceVersion: string,
  signal: AbortSignal,
): AsyncGenerator<readonly WatchEvent<T>[]> {
  const { resource, transport, clock, random } = source;
  const seconds = watchSeconds.atLeast + Math.floor(random() * watchSeconds.spread);
  const guard = stallGuard(clock, seconds * 1000 + stallGraceMs, signal);
  const splitter = new FrameSplitter();
  try {
    const query = { ...watchQuery(seconds), resourceVersion };
    for await (const chunk of transport.stream(request(resource, query), guard.signal)) {
      signal.throwIfAborted();
      yield splitter.push(chunk).map((frame) => decodeWatchEvent(frame, resource.codec));
    }
  } catch (err) {
    if (!guard.stalled()) throw err;
  } finally {
    guard.stop();
  }
}

/**
 * A whole list, live, decoded object by object. Without a limit the API server answers from memory, by its index of nodes, and consistently
 * (Kubernetes 1.31 on).
 */
export async function readAll<T>(
  transport: Pick<KubeTransport, 'stream'>,
  resource: Resource<T>,
  signal: AbortSignal,
): Promise<readonly T[]> {
  try {
    const wanted = { ...request(resource, {}), retries: 1 };
    const { items, continueToken } = await decodeList(transport.stream(wanted, signal), resource.codec);
    if (continueToken !== '') throw new Error('the answer is not the whole list');
    return items;
  } catch (cause) {
    signal.throwIfAborted();
    throw new Error(`reading ${resource.name}`, { cause });
  }
}

async function readPage<T>(source: Source<T>, token: string, signal: AbortSignal): Promise<Page<T>> {
  const { resource, transport, clock, pageSize = defaultPageSize } = source;
  const limit = pageSize === 'all' ? {} : { limit: String(pageSize) };
  // The first page is the caller's to try again; a later one has retries of its own, as they save the pages before it.
  const wanted =
    token === ''
      ? request(resource, limit)
      : { ...request(resource, { ...limit, continue: token }), retries: pageRetries };
  const guard = stallGuard(clock, pageTimeoutMs, signal);
  try {
    return await decodeList(transport.stream(wanted, guard.signal), resource.codec);
  } catch (err) {
    throw guard.stalled() ? new Error(`no page of ${resource.name} within ${pageTimeoutMs / 1000} s`) : err;
  } finally {
    guard.stop();
  }
}

function request(
  resource: Pick<Resource<unknown>, 'path' | 'accept' | 'query'>,
  query: Readonly<Record<string, string>>,
): KubeRequest {
  const { path, accept } = resource;
  return { method: 'GET', path, accept, query: { ...resource.query, ...query } };
}

function watchQuery(seconds: number): Readonly<Record<string, string>> {
  return { watch: 'true', allowWatchBookmarks: 'true', timeoutSeconds: String(seconds) };
}
