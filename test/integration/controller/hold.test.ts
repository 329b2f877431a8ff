import { expect, test } from 'vitest';
import { policyManifest } from '../../manifests.ts';
import { type RunningController, until } from '../built.ts';
import { ControllerEnvironment } from './environment.ts';

const pods = 8;

const deletingMoreThan3 = policyManifest('default', {
  mode: 'Enforce',
  pods: { terminated: { ttlAfterFinished: '0s' }, safety: { holdAbove: 3 } },
});

interface Status {
  readonly hold?: { readonly rulesId: string; readonly since: string; readonly until?: string };
}

test('a large deletion by new rules waits, over a restart too, until the annotation names these rules', async () => {
  await using bed = await ControllerEnvironment.open({ pods });
  const { store } = bed.api;
  const status = (): Status => store.get('GCPolicy', 'default')?.['status'] as Status;
  store.apply(deletingMoreThan3);
  const skipHold = (rulesId: string): void => {
    const annotations = { 'gc.dustpan.dev/skip-hold': rulesId };
    const metadata = { name: 'default', annotations };
    const spec = store.get('GCPolicy', 'default')?.['spec'];
    store.apply({ ...deletingMoreThan3, metadata, spec, status: { ...status() } });
  };
  const deletesNothing = async (controller: RunningController): Promise<void> => {
    await controller.passes('podgc', 1);
    expect(bed.writes).toEqual([]);
    expect(bed.podCount).toBe(pods);
  };

  const first = bed.start();
  await until('it waits', () => bed.condition('Holding') === 'True Holding');
  await until('an Event reports it', () => store.list('Event').some(({ reason }) => reason === 'Holding'));
  const { hold: held } = status();
  const minutes = (Date.parse(held?.until ?? '') - Date.parse(held?.since ?? '')) / 60_000;
  expect(minutes).toBe(5);
  expect(await first.sample('dustpan_kept_objects{unit="podgc",reason="Holding"}')).toBe(pods);
  await first.stop();

  const next = bed.start();
  skipHold('1');
  await deletesNothing(next);
  expect(status().hold).toEqual(held);

  skipHold(held?.rulesId ?? '');
  await until('all are deleted', () => bed.podCount === 0);
  await until('nothing waits', () => bed.condition('Holding') === 'False NothingHeld');
});
