import { afterEach, expect, test } from 'vitest';
import { policyManifest } from '../../manifests.ts';
import { startSandbox, type Sandbox } from '../../sandbox/server.ts';
import { builtForFile, RunningController, until } from '../built.ts';
import { conditionOf, fillCluster, podCount } from './environment.ts';

const built = builtForFile();
const pods = 8;
let sandbox: Sandbox;
let controller: RunningController;

afterEach(async () => {
  await controller.stop();
  await sandbox.stop();
});

const cleaning = (mode: 'DryRun' | 'Enforce') =>
  policyManifest('default', {
    mode,
    pods: { terminated: { ttlAfterFinished: '0s' }, safety: { holdAbove: 3 } },
  });

/** Starts a controller whose policy deletes more pods than `holdAbove`, and waits until it reports that. */
async function hold(): Promise<void> {
  sandbox = await startSandbox();
  fillCluster(sandbox, pods);
  sandbox.store.apply(cleaning('Enforce'));
  start();
  await until('it waits', () => conditionOf(sandbox, 'Holding') === 'True Holding');
}

function start(): void {
  controller = new RunningController(built, sandbox.kubeconfigFile);
}

interface Status {
  readonly hold?: { readonly generation: number; readonly since: string; readonly until?: string };
  readonly conditions: readonly { readonly type: string; readonly message: string }[];
}

const status = (): Status => sandbox.store.get('GCPolicy', 'default')?.['status'] as Status;

/** Changes the stored policy: the same mode is the same generation, and the status stays. */
function change(mode: 'DryRun' | 'Enforce', annotations: Readonly<Record<string, string>> = {}): void {
  const { apiVersion, kind, metadata } = cleaning(mode);
  const spec = sandbox.store.get('GCPolicy', 'default')?.['spec'] as object;
  sandbox.store.apply({
    ...{ apiVersion, kind, metadata: { ...metadata, annotations } },
    ...{ spec: { ...spec, mode }, status: { ...status() } },
  });
}

const skipping = (generation: number) => ({ 'gc.dustpan.dev/skip-hold': String(generation) });

async function deletesNothing(): Promise<void> {
  await controller.passes('podgc', 1);
  const writes = sandbox.requests.filter(({ method, path }) => method !== 'GET' && path.includes('/pods'));
  expect(writes).toEqual([]);
  expect(podCount(sandbox)).toBe(pods);
}

test('a large deletion by a new generation waits, over a restart too, until the annotation names this generation', async () => {
  await hold();
  await deletesNothing();
  const { hold: held, conditions } = status();
  const minutes = (Date.parse(held?.until ?? '') - Date.parse(held?.since ?? '')) / 60_000;
  expect([held?.generation, minutes]).toEqual([1, 5]);
  const message = conditions.find(({ type }) => type === 'Holding')?.message;
  expect(message).toContain(
    `would delete 8 of the 8 pods that it governs; dustpan waits until ${held?.until ?? ''}. `,
  );
  const events = (): readonly object[] =>
    sandbox.store.list('Event').filter(({ reason }) => reason === 'Holding');
  await until('an Event reports it', () => events().length > 0);
  const note =
    /^Generation 1 would delete 8 of 8 pods; dustpan waits until [-\dT:]+Z\. To go on now: kubectl annotate gcpolicy default --overwrite gc\.dustpan\.dev\/skip-hold=1\. To take it back: /;
  expect(events()).toMatchObject([
    {
      regarding: { kind: 'GCPolicy', name: 'default' },
      note: expect.stringMatching(note) as string,
    },
  ]);
  expect(await controller.sample('dustpan_kept_objects{unit="podgc",reason="Holding"}')).toBe(pods);

  await controller.stop();
  start();
  await deletesNothing();
  change('Enforce', skipping(2));
  await deletesNothing();
  expect(status().hold).toEqual(held);

  change('Enforce', skipping(1));
  await until('all are deleted', () => podCount(sandbox) === 0);
  await until('nothing waits', () => conditionOf(sandbox, 'Holding') === 'False NothingHeld');
});

test('a large deletion that is taken back by mode DryRun deletes nothing; with Enforce again it waits again', async () => {
  await hold();
  change('DryRun');
  await until('it is taken back', () => conditionOf(sandbox, 'Holding') === 'False ModeDryRun');
  await deletesNothing();
  // The annotation has no effect on a later generation.
  change('Enforce', skipping(1));
  await until('it waits again', () => conditionOf(sandbox, 'Holding') === 'True Holding');
  await deletesNothing();
  expect(status().hold?.generation).toBe(3);
});
