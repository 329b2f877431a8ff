import { expect, onTestFinished, test, vi } from 'vitest';
import { PolicyOperator } from '../../../src/kube/actions/operator.ts';
import { Reflector } from '../../../src/kube/cache/reflector.ts';
import { jsonResource } from '../../../src/kube/cache/resources.ts';
import { systemClock } from '../../../src/runtime/scheduling/clock.ts';
import { silentLogger } from '../../fakes/logger.ts';
import { policyManifest } from '../../manifests.ts';
import { soon } from '../project.ts';
import { startEnvironment } from './environment.ts';

const collection = '/apis/gc.dustpan.dev/v1alpha1/gcpolicies';
const { transport, objects } = await startEnvironment();

/** What an operator reports; it ends after the test. */
function reports(): readonly { readonly what: string; readonly object: unknown }[] {
  const received: { readonly what: string; readonly object: unknown }[] = [];
  const log = silentLogger;
  const operator = new PolicyOperator({
    watch: (path, onChange) => {
      const resource = jsonResource({ name: 'gcpolicies', path });
      return new Reflector({ transport, clock: systemClock, log, random: Math.random, resource, onChange });
    },
    transport,
    log,
    onEvent: ({ type, name, object }) => {
      received.push({ what: `${type} ${name}`, object });
      return Promise.resolve();
    },
  });
  const stop = new AbortController();
  const ended = operator.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await ended;
  });
  return received;
}

test('reports created, changed and deleted policies, whole and with defaults, a deleted one in its last state', async () => {
  const received = reports();
  const receives = (...types: readonly string[]): Promise<void> =>
    vi.waitFor(() => {
      expect(received.map(({ what }) => what)).toEqual(types.map((type) => `${type} mine`));
    }, soon);
  await objects.post(collection, policyManifest('mine'));
  await receives('ADDED');
  expect(received.at(-1)?.object).toMatchObject({ kind: 'GCPolicy', spec: { mode: 'DryRun', priority: 0 } });
  await objects.patch(`${collection}/mine`, { spec: { mode: 'Enforce' } });
  await receives('ADDED', 'MODIFIED');
  expect(received.at(-1)?.object).toMatchObject({ spec: { mode: 'Enforce' } });
  await objects.delete(`${collection}/mine`);
  await receives('ADDED', 'MODIFIED', 'DELETED');
  expect(received.at(-1)?.object).toMatchObject({ spec: { mode: 'Enforce' } });
});
