import type { Clock } from '../../runtime/scheduling/clock.ts';
import { deadlineAfter } from '../../runtime/scheduling/abort.ts';
import type { Page } from '../codec/list.ts';
import { decodeList, decodeWatchEvent, type WatchEvent } from '../codec/decode.ts';
import { FrameSplitter } from '../codec/frames.ts';
import type { Resource } from './resources.ts';
import { errorOf } from '../http/response-error.ts';
import { isExpired, isThrottled, type KubeRequest, type KubeTransport } from '../http/transport.ts';

export interface Source<T> {
  readonly transport: KubeTransport;
  readonly clock: Clock;
  readonly random: () => number;
  readonly resource: Resource<T>;
  /** Objects of one page of a list. `all`: one page for everything, for small collections. */
  readonly pageSize?: number | 'all';
  /** The mean pause between two lists from the memory of the API server, which replace the watch. */
  readonly pollMs?: number;
}

/** Value of client-go. */
const defaultPageSize = 500;
/** The API server also ends a list after a minute. */
const pageTimeoutMs = 60_000;
/** A list from memory takes milliseconds. With the pause before it, a silent connection is noticed within two minutes. */
const polledTimeoutMs = 30_000;
const pageRetries = 4;
/** Random, as in client-go, so that watches that began together do not end together. */
const watchSeconds = { atLeast: 300, spread: 301 };
const shortWatchSeconds = { atLeast: 60, spread: 21 };
const headersMs = 60_000;
/** Longer than the minute between two bookmarks, and than a short watch. */
const silentMs = 110_000;

/** A watch from which nothing arrives although the server has sent something, or would have ended it; or that does not begin with a list as requested. */
export class BrokenWatchError extends Error {
  override readonly name = 'BrokenWatchError';
}

interface WatchFrom {
  /** undefined = the watch begins with all objects, as a consistent list; they are complete at the bookmark that ends the list. */
  readonly resourceVersion: string | undefined;
  /** Ends the watch after about a minute: the server is not known to send bookmarks, so only the end shows that the connection works. */
  readonly isShort: boolean;
}

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

interface Collecting<T, L> {
  readonly begin: () => L;
  readonly add: (list: L, item: T) => void;
}

/**
 * Reads a consistent list page by page. When a continue token has expired, it reads the whole list again, once and without a limit, as client-go does:
 * pages would expire again.
 */
export async function readList<T, L>(
  source: Source<T>,
  { begin, add }: Collecting<T, L>,
  signal: AbortSignal,
): Promise<{ readonly list: L; readonly resourceVersion: string }> {
  let list = begin();
  let page = await readPage(source, '', signal);
  for (;;) {
    for (const item of page.items) add(list, item);
    if (page.continueToken === '') return { list, resourceVersion: page.resourceVersion };
    try {
      page = await readPage(source, page.continueToken, signal);
    } catch (err) {
      if (!isExpired(err)) throw err;
      list = begin();
      page = await readPage({ ...source, pageSize: 'all' }, '', signal);
    }
  }
}

/**
 * Yields every event after `resourceVersion`, in batches as they arrive. Ends when the server ends the watch. Rejects with BrokenWatchError when the
 * headers of the response, or the list in it, take longer than a minute, when the list is not complete, or when nothing arrives for 110 s.
 */
export async function* watchEvents<T>(
  { resource, transport, clock, random }: Source<T>,
  { resourceVersion, isShort }: WatchFrom,
  signal: AbortSignal,
): AsyncGenerator<readonly WatchEvent<T>[]> {
  const { atLeast, spread } = isShort ? shortWatchSeconds : watchSeconds;
  const from = resourceVersion === undefined ? initialEvents : { resourceVersion };
  const query = { ...watchQuery(atLeast + Math.floor(random() * spread)), ...from };
  const silentFor = (ms: number) => (): Error =>
    new BrokenWatchError(`nothing arrived from the watch of ${resource.name} for ${ms / 1000} s`);
  const silent = silentFor(silentMs);
  const unlisted = (): Error =>
    new BrokenWatchError(`the watch of ${resource.name} did not begin with a whole list`);
  let isListed = resourceVersion !== undefined;
  const deadline = deadlineAfter(clock, headersMs, isListed ? silentFor(headersMs) : unlisted, signal);
  const splitter = new FrameSplitter();
  try {
    for await (const chunk of transport.stream(request(resource, query), deadline.signal)) {
      const events = splitter.push(chunk).map((frame) => decodeWatchEvent(frame, resource.codec));
      signal.throwIfAborted();
      isListed ||= endsList(events, unlisted);
      if (isListed) deadline.extend(silentMs, silent);
      yield events;
    }
    if (!isListed) throw unlisted();
  } finally {
    deadline.stop();
  }
}

/** Whether the list with which a watch begins is complete. A server that does not know such lists sends other bookmarks. */
function endsList(events: readonly WatchEvent<unknown>[], unlisted: () => Error): boolean {
  const mark = events.find(({ type }) => type === 'BOOKMARK' || type === 'ERROR');
  if (mark?.type === 'ERROR') {
    const cause = errorOf(mark.status);
    // A busy server: the same request, later.
    if (isThrottled(cause)) throw cause;
    throw new BrokenWatchError(unlisted().message, { cause });
  }
  if (mark?.type === 'BOOKMARK' && !mark.endsList) throw unlisted();
  return mark !== undefined;
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
  const { resource, transport, clock, pageSize = defaultPageSize, pollMs } = source;
  const [limit, timeoutMs] =
    pollMs === undefined
      ? [pageSize === 'all' ? {} : { limit: String(pageSize) }, pageTimeoutMs]
      : [{ resourceVersion: '0' }, polledTimeoutMs];
  // The caller retries the first page. Later ones are retried here, so that the pages before them are not lost.
  const page =
    token === ''
      ? request(resource, limit)
      : { ...request(resource, { ...limit, continue: token }), retries: pageRetries };
  const late = (): Error => new Error(`no page of ${resource.name} within ${timeoutMs / 1000} s`);
  const deadline = deadlineAfter(clock, timeoutMs, late, signal);
  try {
    return await decodeList(transport.stream(page, deadline.signal), resource.codec);
  } finally {
    deadline.stop();
  }
}

function request(
  resource: Pick<Resource<unknown>, 'path' | 'accept' | 'query'>,
  query: Readonly<Record<string, string>>,
): KubeRequest {
  const { path, accept } = resource;
  return { method: 'GET', path, accept, query: { ...resource.query, ...query } };
}

/** Without a resourceVersion the list is consistent. */
const initialEvents = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' };

function watchQuery(seconds: number): Readonly<Record<string, string>> {
  return { watch: 'true', allowWatchBookmarks: 'true', timeoutSeconds: String(seconds) };
}
