import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import type { Lease } from '../../../src/kube/lease/record.ts';
import { LeaseElector } from '../../../src/kube/lease/lease.ts';
import type { LeaseOutcome } from '../../../src/kube/lease/lease.ts';
import { ApiError } from '../../../src/kube/http/transport.ts';
import type { KubeTransport } from '../../../src/kube/http/transport.ts';
import { systemClock } from '../../../src/runtime/scheduling/clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';
import { startEnvironment } from './environment.ts';
import { soon } from '../project.ts';

/** A stall of the renew deadline, as on a busy machine, would cost the lease. */
const times = { leaseDurationMs: 8_000, renewDeadlineMs: 5_000, retryPeriodMs: 250 };

interface Candidate {
  readonly elector: LeaseElector;
  readonly log: RecordingLogger;
  readonly outcome: Promise<LeaseOutcome>;
  readonly stop: () => void;
}

function candidate(
  transport: KubeTransport,
  identity: string,
  lease: { namespace: string; name: string },
): Candidate {
  const log = new RecordingLogger();
  const elector = new LeaseElector({
    ...times,
    transport,
    clock: systemClock,
    log,
    random: Math.random,
    lease,
    identity,
  });
  const stop = new AbortController();
  const outcome = elector.run(
    (signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          resolve();
        });
      }),
    stop.signal,
  );
  return {
    elector,
    log,
    outcome,
    stop: () => {
      stop.abort();
    },
  };
}

const { signal } = new AbortController();

const { transport } = await startEnvironment();

const fresh = (): { namespace: string; name: string } => ({
  namespace: 'default',
  name: `lease-${randomUUID().slice(0, 8)}`,
});
const path = (name: string): string => `/apis/coordination.k8s.io/v1/namespaces/default/leases/${name}`;
const read = async (name: string): Promise<Lease> => {
  const { body } = await transport.send({ method: 'GET', path: path(name) }, signal);
  return JSON.parse(body.toString()) as Lease;
};
const leads = (who: Candidate): Promise<void> =>
  vi.waitFor(() => {
    expect(who.elector.holdsLease()).toBe(true);
  }, soon);

describe('leader election', () => {
  test('one of two candidates leads; when it stops, the other leads at once', async () => {
    const lease = fresh();
    const first = candidate(transport, 'first', lease);
    await leads(first);
    const second = candidate(transport, 'second', lease);
    const before = await read(lease.name);
    expect(before.spec).toMatchObject({
      holderIdentity: 'first',
      leaseDurationSeconds: 8,
      leaseTransitions: 0,
    });
    expect(before.spec?.renewTime).toMatch(/\.\d{6}Z$/);
    await vi.waitFor(async () => {
      expect((await read(lease.name)).spec?.renewTime).not.toBe(before.spec?.renewTime);
    }, soon);
    expect(second.elector.isLeader).toBe(false);
    first.stop();
    expect(await first.outcome).toBe('released');
    const releasedAtMs = performance.now();
    await leads(second);
    expect(performance.now() - releasedAtMs).toBeLessThan(times.leaseDurationMs);
    expect((await read(lease.name)).spec).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 });
    second.stop();
    await second.outcome;
    expect((await read(lease.name)).spec?.holderIdentity).toBe('');
  });

  test('a missing namespace is one warning with the message of the server', async () => {
    const only = candidate(transport, 'only', { namespace: 'no-such-namespace', name: 'lease' });
    await vi.waitFor(() => {
      expect(only.log.lines.filter((line) => line.level === 'debug').length).toBeGreaterThan(1);
    }, soon);
    only.stop();
    await only.outcome;
    const warnings = only.log.lines.filter((line) => line.level === 'warn');
    expect(warnings).toHaveLength(1);
    expect(JSON.stringify(warnings.map(({ fields }) => String((fields as { err: Error }).err)))).toContain(
      'namespaces \\"no-such-namespace\\" not found',
    );
  });
});

test('a time with milliseconds is refused', async () => {
  const { namespace, name } = fresh();
  const body = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace, name },
    spec: { holderIdentity: 'x', leaseDurationSeconds: 1, renewTime: '2026-01-01T00:00:00.000Z' },
  };
  const post = transport.send({ method: 'POST', path: path('').slice(0, -1), body }, signal);
  await expect(post).rejects.toThrow(ApiError);
  await expect(post).rejects.toMatchObject({ status: 400 });
});
