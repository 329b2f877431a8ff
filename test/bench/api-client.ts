import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import type { Cluster } from '../cluster/cluster.ts';

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
const listOfMetadata = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';

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

/** Has the server tell every change of all pods, as each of its controllers does, and throws that away; until disposed of. */
export async function watchAllPods(
  cluster: Pick<Cluster, 'url' | 'caFile' | 'token'>,
  api: Pick<ApiClient, 'send'>,
): Promise<Disposable> {
  const head = await api.send('GET', '/api/v1/pods?limit=1', { accept: listOfMetadata });
  const list = JSON.parse(head.toString()) as ListHead;
  const from = `resourceVersion=${list.metadata.resourceVersion}`;
  const accept = 'application/vnd.kubernetes.protobuf;stream=watch';
  const headers = { authorization: `Bearer ${cluster.token('admin')}`, accept };
  return await new Promise((resolve, reject) => {
    const url = `${cluster.url}/api/v1/pods?watch=true&${from}`;
    const watch = request(url, { ca: readFileSync(cluster.caFile), headers }, (response) => {
      // It ends by being broken off.
      response.on('error', () => undefined).resume();
      if (response.statusCode === 200) resolve({ [Symbol.dispose]: () => watch.destroy() });
      else reject(new Error(`watching pods: ${response.statusCode ?? 0}`));
    });
    watch.on('error', reject).end();
  });
}

interface ListHead {
  readonly metadata: { readonly resourceVersion: string };
}

/** How fast this server deletes pods at best: so many requests always in flight, nothing else to do. Per second. */
export async function rawDeleteRate(
  api: ApiClient,
  pods: readonly { readonly namespace: string; readonly name: string }[],
  inFlight: number,
): Promise<number> {
  const left = pods.values();
  const startedAt = performance.now();
  const worker = async (): Promise<void> => {
    for (const { namespace, name } of left) {
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 };
      await api.send('DELETE', `/api/v1/namespaces/${namespace}/pods/${name}`, { body });
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return (pods.length * 1_000) / (performance.now() - startedAt);
}
