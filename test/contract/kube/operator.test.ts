import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PolicyOperator } from '../../../src/kube/actions/operator.ts';
import { Reflector } from '../../../src/kube/cache/reflector.ts';
import { jsonResource } from '../../../src/kube/cache/resources.ts';
import { systemClock } from '../../../src/runtime/scheduling/clock.ts';
import { silentLogger } from '../../fakes/logger.ts';
import { startEnvironment } from './environment.ts';
import { policyManifest } from '../../manifests.ts';
import { soon } from '../project.ts';

const collection = '/apis/gc.dustpan.dev/v1alpha1/gcpolicies';

let operator: PolicyOperator;
let received: { readonly what: string; readonly object: unknown }[];
let name: string;
let stop: () => Promise<void>;
const { signal } = new AbortController();

const { transport } = await startEnvironment();

beforeEach(() => {
  received = [];
  name = `policy-${randomUUID().slice(0, 8)}`;
  operator = new PolicyOperator({
    watch: (path, onChange) => {
      const resource = jsonResource({ name: 'gcpolicies', path });
      const deps = {
        transport,
        clock: systemClock,
        log: silentLogger,
        random: Math.random,
        resource,
        onChange,
      };
      return new Reflector(deps);
    },
    transport,
    log: silentLogger,
    onEvent: ({ type, name: policy, object }) => {
      received.push({ what: `${type} ${policy}`, object });
      return Promise.resolve();
    },
  });
  const abort = new AbortController();
  const ended = operator.run(abort.signal);
  stop = async () => {
    abort.abort();
    await ended;
  };
});

afterEach(async () => {
  await stop();
});

const create = async (): Promise<void> => {
  const body = policyManifest(name);
  await transport.send({ method: 'POST', path: collection, body }, signal);
};
const patch = async (spec: object): Promise<void> => {
  const contentType = 'application/merge-patch+json';
  await transport.send(
    { method: 'PATCH', path: `${collection}/${name}`, contentType, body: { spec } },
    signal,
  );
};
const remove = async (): Promise<void> => {
  await transport.send({ method: 'DELETE', path: `${collection}/${name}` }, signal);
};
const mine = (): readonly string[] => received.map(({ what }) => what).filter((what) => what.endsWith(name));
const receives = (...types: readonly string[]): Promise<void> =>
  vi.waitFor(() => {
    expect(mine()).toEqual(types.map((type) => `${type} ${name}`));
  }, soon);
test('reports created, changed and deleted policies, with defaults', async () => {
  await create();
  await receives('ADDED');
  expect(received.at(-1)?.object).toMatchObject({ kind: 'GCPolicy', spec: { mode: 'DryRun', priority: 0 } });
  await patch({ mode: 'Enforce' });
  await receives('ADDED', 'MODIFIED');
  expect(received.at(-1)?.object).toMatchObject({ spec: { mode: 'Enforce' } });
  await remove();
  await receives('ADDED', 'MODIFIED', 'DELETED');
});
