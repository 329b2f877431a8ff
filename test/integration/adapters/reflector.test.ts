import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { HttpTransport } from '../../../src/kube/http/http-transport.ts';
import type { Identified } from '../../../src/kube/cache/objects.ts';
import type { Reflector } from '../../../src/kube/cache/reflector.ts';
import { jsonResource, podsResource } from '../../../src/kube/cache/resources.ts';
import { startSandbox, type Sandbox, type SandboxRequest } from '../../sandbox/server.ts';
import { contractTransport } from '../../contract/kube/objects.ts';
import { reflect } from '../../contract/kube/reflecting.ts';
import { policyManifest } from '../../manifests.ts';

// Behaviour of a cluster view over bad connections.

const { signal } = new AbortController();
const waiting = { timeout: 60_000, interval: 20 };
let sandbox: Sandbox;
let transport: HttpTransport;

beforeEach(async () => {
  sandbox = await startSandbox();
  transport = await contractTransport(sandbox);
});
afterEach(async () => {
  transport.close();
  await sandbox.stop();
});

const policiesPath = '/apis/gc.dustpan.dev/v1alpha1/gcpolicies';
const pods = () => podsResource({ labelKeys: () => 'all' });
const kinds = [
  {
    kind: 'pods, in protobuf',
    kindName: 'Pod',
    end: '/pods',
    start: () => reflect(transport, pods()),
    make: (name: string) =>
      sandbox.store.apply({
        ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' } },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      }),
  },
  {
    kind: 'policies, line by line',
    kindName: 'GCPolicy',
    end: '/gcpolicies',
    start: () => reflect(transport, jsonResource({ name: 'gcpolicies', path: policiesPath })),
    make: (name: string) => sandbox.store.apply(policyManifest(name)),
  },
];

const ofList =
  (end: string) =>
  ({ path, query }: SandboxRequest): boolean =>
    path.endsWith(end) && !query.has('watch');
const ofWatch =
  (end: string) =>
  ({ path, query }: SandboxRequest): boolean =>
    path.endsWith(end) && query.has('watch');
const namesIn = (reflector: Reflector<Identified>): readonly string[] =>
  [...reflector.items.values()].map(({ name }) => name).sort();
const count = (matches: (request: SandboxRequest) => boolean): number =>
  sandbox.requests.filter(matches).length;

test.each(kinds)(
  '$kind: a watch that is cut within an object loses nothing',
  async ({ start, make, end, kindName }) => {
    make('a');
    sandbox.faults.next(ofWatch(end), { kind: 'cut', afterBytes: 60 });
    const reflector = start();
    await reflector.whenComplete(signal);
    await vi.waitFor(() => {
      expect(count(ofWatch(end))).toBe(1);
    }, waiting);
    make('b');
    make('c');
    sandbox.store.delete(kindName, 'a');
    await vi.waitFor(() => {
      expect(namesIn(reflector)).toEqual(['b', 'c']);
    }, waiting);
    expect(sandbox.faults.pending).toBe(0);
    expect(count(ofWatch(end))).toBeGreaterThanOrEqual(2);
    expect(count(ofList(end))).toBe(1);
  },
);

test.each(kinds)(
  '$kind: a list that is cut, refused and expired shows nothing until it is complete',
  async ({ start, make, end }) => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names) make(name);
    sandbox.faults.next(ofList(end), { kind: 'cut', afterBytes: 200 });
    sandbox.faults.next(ofList(end), { kind: 'status', status: 500 });
    sandbox.faults.next(ofList(end), { kind: 'status', status: 410, reason: 'Expired' });
    const reflector = start();
    await vi.waitFor(() => {
      expect([0, names.length]).toContain(reflector.items.size);
      expect(reflector.synced).toBe(reflector.items.size > 0);
      expect(namesIn(reflector)).toEqual(names);
    }, waiting);
    expect(sandbox.faults.pending).toBe(0);
  },
);

test.each(kinds)('$kind: an expired version is listed again', async ({ start, make, end, kindName }) => {
  make('a');
  make('b');
  const reflector = start();
  await reflector.whenComplete(signal);
  await vi.waitFor(() => {
    expect(count(ofWatch(end))).toBe(1);
  }, waiting);
  sandbox.faults.next(ofWatch(end), { kind: 'status', status: 503 }, 1);
  sandbox.faults.closeWatches();
  sandbox.store.delete(kindName, 'a');
  make('c');
  sandbox.faults.expireWatches();
  await vi.waitFor(() => {
    expect(namesIn(reflector)).toEqual(['b', 'c']);
  }, waiting);
  expect(count(ofList(end))).toBeGreaterThanOrEqual(2);
});
