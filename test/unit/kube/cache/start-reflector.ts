import { onTestFinished } from 'vitest';
import type { PodFacts } from '../../../../src/kube/cache/objects.ts';
import { Reflector, type ReflectorDeps } from '../../../../src/kube/cache/reflector.ts';
import { podsResource } from '../../../../src/kube/cache/resources.ts';
import { FakeApi } from '../../../fakes/api.ts';
import { silentLogger } from '../../../fakes/logger.ts';
import { ManualClock, until } from '../../../fakes/manual-clock.ts';
import type { Manifest } from '../../../sandbox/api/direct-store.ts';

export const refused = new Error('connection refused');

export const pod = (name: string, more: object = {}): Manifest => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'a', uid: `uid-${name}`, ...more },
  status: { phase: 'Running' },
});

interface Started {
  readonly api: FakeApi;
  readonly reflector: Reflector<PodFacts>;
  readonly clock: ManualClock;
  /** The names in the view at each change. */
  readonly changes: readonly (readonly string[])[];
  readonly done: Promise<void>;
  readonly stop: AbortController;
}

/** Starts a reflector of pods with pages of two. It stops after the test. */
export function start(api: FakeApi, options: Partial<ReflectorDeps<PodFacts>> = {}): Started {
  const clock = new ManualClock();
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const changes: (readonly string[])[] = [];
  const reflector = new Reflector<PodFacts>({
    transport: api,
    clock,
    log: silentLogger,
    random: () => 0,
    resource: podsResource({ labelKeys: () => 'all' }),
    onChange: () => changes.push(names(reflector)),
    pageSize: 2,
    ...options,
  });
  const done = reflector.run(stop.signal);
  return { api, reflector, clock, changes, done, stop };
}

export async function startWatching(
  api: FakeApi,
  options: Partial<ReflectorDeps<PodFacts>> = {},
): Promise<Started> {
  const started = start(api, options);
  await until(() => api.watching === 1);
  return started;
}

/** The names of the pods in the view. */
export function names(reflector: Reflector<PodFacts>): readonly string[] {
  return [...reflector.items.values()].map(({ name }) => name).toSorted();
}

/** An API server with these pods. */
export function apiWith(...pods: readonly string[]): FakeApi {
  const api = new FakeApi();
  for (const name of pods) api.objects.apply(pod(name));
  return api;
}

/** The public state of a reflector. */
export function stateOf<T extends { uid: string; name: string; resourceVersion: string }>(
  reflector: Reflector<T>,
): object {
  const { items, synced, isComplete, state, lastError } = reflector;
  return { count: items.size, synced, isComplete, state, lastError };
}

/** Waits until the reflector pauses between two attempts. Returns the length of the pause. */
export async function pause(clock: ManualClock): Promise<number> {
  const isPause = (ms: number): boolean => ms <= 30_000;
  await until(() => clock.sleeping.some(isPause));
  return clock.sleeping.find(isPause) ?? 0;
}
