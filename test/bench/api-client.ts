import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import type { Cluster } from '../cluster/servers/cluster.ts';
import type { Mark } from './gc-cycles.ts';

/** A plain client of the API server that keeps its connections: what any program could do. */
export interface ApiClient {
  /** Resolves with the answer's body; rejects unless the status is 2xx. */
  send(method: string, path: string, options?: SendOptions): Promise<Buffer>;
  close(): void;
}

interface SendOptions {
  readonly body?: object;
  readonly contentType?: string;
  /** Of one object by default no more than its metadata. */
  readonly accept?: string;
}

const metadataOnly = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json';

/** A client with as many connections as requests are under way. */
export function apiClient(cluster: Pick<Cluster, 'url' | 'caFile' | 'token'>): ApiClient {
  const agent = new Agent({ keepAlive: true, ca: readFileSync(cluster.caFile) });
  const authorization = `Bearer ${cluster.token('admin')}`;
  return {
    close: () => {
      agent.destroy();
    },
    send: (method, path, { body, contentType = 'application/json', accept = metadataOnly } = {}) =>
      new Promise((resolve, reject) => {
        const data = body === undefined ? '' : JSON.stringify(body);
        // Without a length Node sends the body of a DELETE unframed.
        const length = { 'content-type': contentType, 'content-length': Buffer.byteLength(data) };
        const headers = { authorization, accept, ...(data !== '' && length) };
        request(`${cluster.url}${path}`, { method, agent, headers }, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => {
            const answer = Buffer.concat(chunks);
            const { statusCode = 0 } = response;
            if (statusCode >= 200 && statusCode < 300) resolve(answer);
            else reject(new Error(`${method} ${path}: ${statusCode} ${answer.toString()}`));
          });
        })
          .on('error', reject)
          .end(data);
      }),
  };
}

/** Deletes them as fast as this server lets a client that always has so many requests in flight and nothing else to do; returns how it went on. */
export async function deleteRaw(
  api: ApiClient,
  pods: readonly { readonly namespace: string; readonly name: string }[],
  inFlight: number,
): Promise<readonly Mark[]> {
  const left = pods.values();
  const marks: Mark[] = [{ atMs: performance.now(), done: 0 }];
  let done = 0;
  const worker = async (): Promise<void> => {
    for (const { namespace, name } of left) {
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 };
      await api.send('DELETE', `/api/v1/namespaces/${namespace}/pods/${name}`, { body });
      done += 1;
      if (done % markEvery === 0 || done === pods.length) marks.push({ atMs: performance.now(), done });
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return marks;
}

/** A fifth of a second of deleting. */
const markEvery = 100;
