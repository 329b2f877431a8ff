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
  /** Random number in [0, 1). */
  readonly random: () => number;
  readonly resource: Resource<T>;
  /** Objects of one page of a list. `all`: one page for everything, for small collections. */
  readonly pageSize?: number | 'all';
}

/** Value of client-go. */
const defaultPageSize = 500;
/** The API server also ends a list after a minute. */
const pageTimeoutMs = 60_000;
const pageRetries = 4;
/** Random, as in client-go, so that watches that began together do not end together. */
const watchSeconds = { atLeast: 300, spread: 301 };
const stallGraceMs = 30_000;

/**
 * A consistent list (no resourceVersion), page by page. A list in one page is served from the watch cache (since Kubernetes 1.31), by its index of
 * nodes. Before 1.33 the server searches all stored pods for a page of the pods of one node.
 */
export async function* listPages<T>(source: Source<T>, signal: AbortSignal): AsyncGenerator<Page<T>> {
  let page = await readPage(source, '', signal);
  yield page;
  while (page.continueToken !== '') {
    page = await readPage(source, page.continueToken, signal);
    yield page;
  }
}

/** Yields every event after `resourceVersion`, in batches as they arrive. Ends when the server ends the watch, or should have ended it. */
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
 * Reads a whole list live, object by object. Without a limit the API server serves it from memory, by its index of nodes, and consistently (since
 * Kubernetes 1.31).
 */
export async function readAll<T>(
  transport: Pick<KubeTransport, 'stream'>,
  resource: Resource<T>,
  signal: AbortSignal,
): Promise<readonly T[]> {
  try {
    const whole = { ...request(resource, {}), retries: 1 };
    const { items, continueToken } = await decodeList(transport.stream(whole, signal), resource.codec);
    if (continueToken !== '') throw new Error('the response is not the whole list');
    return items;
  } catch (cause) {
    signal.throwIfAborted();
    throw new Error(`reading ${resource.name}`, { cause });
  }
}

async function readPage<T>(source: Source<T>, token: string, signal: AbortSignal): Promise<Page<T>> {
  const { resource, transport, clock, pageSize = defaultPageSize } = source;
  const limit = pageSize === 'all' ? {} : { limit: String(pageSize) };
  // The caller retries the first page. Later ones are retried here, so that the pages before them are not lost.
  const page =
    token === ''
      ? request(resource, limit)
      : { ...request(resource, { ...limit, continue: token }), retries: pageRetries };
  const guard = stallGuard(clock, pageTimeoutMs, signal);
  try {
    return await decodeList(transport.stream(page, guard.signal), resource.codec);
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
