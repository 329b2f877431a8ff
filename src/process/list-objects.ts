import { readList } from '../kube/cache/list-watch.ts';
import type { Resource } from '../kube/cache/resources.ts';
import type { KubeTransport } from '../kube/http/transport.ts';
import { systemClock as clock } from '../runtime/scheduling/clock.ts';

/** All objects of a collection. `pageSize`: a page of them is held in memory. */
export async function listObjects<T>(collection: ListOf<T>, signal: AbortSignal): Promise<readonly T[]> {
  const add = (items: T[], item: T): void => void items.push(item);
  const source = { ...collection, transport: retrying(collection.transport), clock, random: Math.random };
  const { list } = await readList(source, { begin: (): T[] => [], add }, signal);
  return list;
}

/** Retries of a throttled or restarting server, as a person would. */
export const retries = 4;

/** Retries lists too. */
export const retrying = (transport: KubeTransport): KubeTransport => ({
  send: (request, signal) => transport.send(request, signal),
  stream: (request, signal) => transport.stream({ retries, ...request }, signal),
});

interface ListOf<T> {
  readonly transport: KubeTransport;
  readonly resource: Resource<T>;
  readonly pageSize?: number;
}
