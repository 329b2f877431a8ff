import type { ApiClient } from './api-client.ts';

/** What the API server has been asked so far by its own count, `VERB resource`; a watch counts when it has ended. */
export type Requests = ReadonlyMap<string, number>;

const ours = new Set(['nodegcreports', 'gcpolicies', 'nodes', 'pods', 'events']);

/** The requests for what dustpan reads and writes. */
export async function requestsOf(api: ApiClient): Promise<Requests> {
  const text = (await api.send('GET', '/metrics')).toString();
  const counts = new Map<string, number>();
  for (const [, labels = '', value = ''] of text.matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
    const of = (name: string): string => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
    const resource = of('resource');
    if (!ours.has(resource)) continue;
    const sub = of('subresource');
    const name = `${of('verb')} ${resource}${sub === '' ? '' : `/${sub}`}${isRefused(of('code')) ? ` (${of('code')})` : ''}`;
    counts.set(name, (counts.get(name) ?? 0) + Number(value));
  }
  return counts;
}

const isRefused = (code: string): boolean => Number(code) >= 400;

/** What came between two counts. */
export function grown(before: Requests, after: Requests): Requests {
  const counts = [...after].map(([name, count]) => [name, count - (before.get(name) ?? 0)] as const);
  return new Map(counts.filter(([, count]) => count > 0));
}
