import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import type { Cluster } from '../cluster/servers/cluster.ts';

/** A minimal client of the API server that keeps its connections open. */
export interface ApiClient {
  /** Resolves with the body of the response; rejects unless the status is 2xx. */
  send(method: string, path: string, options?: SendOptions): Promise<Buffer>;
  close(): void;
}

interface SendOptions {
  readonly body?: object;
  readonly contentType?: string;
  /** Replaces the response with metadata only. */
  readonly accept?: string;
}

export const mergePatch = 'application/merge-patch+json';
export const strategicMergePatch = 'application/strategic-merge-patch+json';

/** Responses for single objects have their metadata only, which costs least. */
const metadataOnly = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json';

/** A client with as many connections as requests in flight. */
export function apiClient(cluster: Cluster): ApiClient {
  const agent = new Agent({ keepAlive: true, ca: readFileSync(cluster.caFile) });
  const authorization = `Bearer ${cluster.token('admin')}`;
  return {
    close: () => agent.destroy(),
    send: (method, path, { body, contentType = 'application/json', accept = metadataOnly } = {}) =>
      new Promise((resolve, reject) => {
        const data = body === undefined ? '' : JSON.stringify(body);
        // Without a length Node sends the body of a DELETE unframed.
        const content = { 'content-type': contentType, 'content-length': Buffer.byteLength(data) };
        const headers = { authorization, accept, ...(data !== '' && content) };
        request(`${cluster.url}${path}`, { method, agent, headers }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => {
            const received = Buffer.concat(chunks);
            const { statusCode = 0 } = response;
            if (statusCode >= 200 && statusCode < 300) resolve(received);
            else reject(new Error(`${method} ${path}: ${statusCode} ${received.toString()}`));
          });
        })
          .on('error', reject)
          .end(data);
      }),
  };
}

/** Sends one request per item, always this many at once; resolves with the time it took. */
export async function sendAll<T>(
  items: readonly T[],
  inFlight: number,
  send: (item: T) => Promise<unknown>,
): Promise<{ readonly count: number; readonly seconds: number }> {
  const left = items.values();
  const startedAtMs = performance.now();
  const worker = async (): Promise<void> => {
    for (const item of left) await send(item);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return { count: items.length, seconds: (performance.now() - startedAtMs) / 1_000 };
}
