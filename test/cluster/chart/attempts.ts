import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { text as readText } from 'node:stream/consumers';
import type { Cluster } from '../servers/cluster.ts';
import { policyManifest } from '../../manifests.ts';

export const namespace = 'dustpan-system';

/** A request that a token's owner may try. */
export interface Attempt {
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  /** True: not a dry run. */
  readonly keep?: boolean;
}

export interface Response {
  readonly status: number | undefined;
  readonly message: string;
}

/** Sends the request with this bearer token. */
export async function send(
  cluster: Cluster,
  token: string,
  { method, path, body, keep = false }: Attempt,
): Promise<Response> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const headers = { authorization: `Bearer ${token}`, 'content-type': type };
  const url = `${cluster.url}${path}${keep ? '' : '?dryRun=All'}`;
  const options = { method, headers, ca: readFileSync(cluster.caFile) };
  const sent = request(url, options).end(body === undefined ? '' : JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const { message = '' } = JSON.parse(await readText(response)) as { readonly message?: string };
  return { status: response.statusCode, message };
}

export const gc = '/apis/gc.dustpan.dev/v1alpha1';
export const pods = `/api/v1/namespaces/${namespace}/pods`;

export const podOn = (node: string, name = `agent-${node}`.slice(0, 63)): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace },
  spec: {
    serviceAccountName: 'dustpan-agent',
    nodeName: node,
    containers: [{ name: 'main', image: 'dustpan' }],
  },
});

export const report = (node: string): object => ({
  apiVersion: 'gc.dustpan.dev/v1alpha1',
  kind: 'NodeGCReport',
  metadata: { name: node },
});

export const policy = (name: string): object => policyManifest(name, { pods: { terminated: {} } });

export const createReport = (node: string): Attempt => ({
  name: `create the report of ${node}`,
  method: 'POST',
  path: `${gc}/nodegcreports`,
  body: report(node),
});

export const writeReport = (node: string): Attempt => ({
  name: `write the report of ${node}`,
  method: 'PATCH',
  path: `${gc}/nodegcreports/${node}/status`,
  body: { status: { reportTime: '2026-01-01T00:00:00Z' } },
});

const events = '/apis/events.k8s.io/v1/namespaces/default/events';

/** An Event of the agent on node-a about its Node. */
export const createEvent = (name: string, over: object = {}): Attempt => ({
  name,
  method: 'POST',
  path: events,
  body: {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name, namespace: 'default' },
    eventTime: '2026-01-01T00:00:00.000000Z',
    ...{ type: 'Warning', reason: 'ImageGCFailed', action: 'CollectImages', note: 'a note' },
    ...{ reportingController: 'gc.dustpan.dev/agent', reportingInstance: 'node-a' },
    regarding: { apiVersion: 'v1', kind: 'Node', name: 'node-a', uid: 'uid-a' },
    ...over,
  },
});

/** The same Event by the core API, with fields that only the core API accepts. */
export const createCoreEvent = (name: string, over: object = {}): Attempt => ({
  name,
  method: 'POST',
  path: '/api/v1/namespaces/default/events',
  body: {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: 'default' },
    ...{ type: 'Warning', reason: 'ImageGCFailed', message: 'a note' },
    ...{ reportingComponent: 'gc.dustpan.dev/agent', reportingInstance: 'node-a' },
    involvedObject: { apiVersion: 'v1', kind: 'Node', name: 'node-a', uid: 'uid-a' },
    ...over,
  },
});

export const recur = (event: string): Attempt => ({
  name: `count one more of ${event}`,
  method: 'PATCH',
  path: `${events}/${event}`,
  body: { series: { count: 2, lastObservedTime: '2026-01-01T00:01:00.000000Z' } },
});

export const evict = (pod: string): Attempt => ({
  name: `evict ${pod}`,
  method: 'POST',
  path: `${pods}/${pod}/eviction`,
  body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod, namespace } },
});
