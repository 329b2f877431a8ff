import { expect, test } from 'vitest';
import { LiveNode } from '../../../../src/kube/actions/live-reads.ts';
import type { KubeResponse } from '../../../../src/kube/http/transport.ts';
import { ManualClock } from '../../../fakes/manual-clock.ts';
import { FakeTransport } from '../../../fakes/transport.ts';

const policy = (mode: string, nodeSelector = {}): object => ({
  metadata: { name: 'default', uid: 'p1', generation: 3 },
  spec: { mode, nodes: { nodeSelector, imageGC: {} } },
});

interface Served {
  readonly policies: readonly object[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly date?: string;
}

class Server extends FakeTransport {
  readonly #date: string | undefined;

  constructor({ policies, labels = {}, date }: Served) {
    const metadata = { name: 'node-1', uid: 'n1', resourceVersion: '3', labels };
    super({
      send: () => ({ items: policies }),
      stream: ({ path }) => {
        const isNode = path.endsWith('/nodes');
        const kind = isNode ? 'NodeList' : 'PodList';
        return [
          JSON.stringify({ kind, metadata: { resourceVersion: '9' }, items: isNode ? [{ metadata }] : [] }),
        ];
      },
    });
    this.#date = date;
  }

  override async send(...args: Parameters<FakeTransport['send']>): Promise<KubeResponse> {
    const answer = await super.send(...args);
    return { ...answer, headers: this.#date === undefined ? {} : { date: this.#date } };
  }
}

const confirm = (served: Served) =>
  new LiveNode({ transport: new Server(served), clock: new ManualClock(), nodeName: 'node-1' }).confirm(
    new AbortController().signal,
  );

test.each<Served & { name: string; expected: object }>([
  {
    name: 'the policy that governs the node',
    policies: [policy('Enforce')],
    expected: { kind: 'governed', policy: { uid: 'p1', mode: 'Enforce', generation: 3 } },
  },
  {
    name: 'its mode as it is now',
    policies: [policy('DryRun')],
    expected: { kind: 'governed', policy: { mode: 'DryRun' } },
  },
  {
    name: 'the keep label as it is now',
    policies: [policy('Enforce')],
    labels: { 'gc.dustpan.dev/keep': 'true' },
    expected: { kind: 'keep', reason: 'KeepMarked' },
  },
  {
    name: 'the labels that policies select by',
    policies: [policy('Enforce', { matchLabels: { pool: 'a' } })],
    labels: { pool: 'b' },
    expected: { kind: 'keep', reason: 'NoPolicy' },
  },
  { name: 'no policy at all', policies: [], expected: { kind: 'keep', reason: 'NoPolicy' } },
])('reads $name', async ({ expected, ...served }) => {
  expect((await confirm(served)).governance).toMatchObject(expected);
});

test.each([
  { date: 'Thu, 15 Jan 2026 11:00:00 GMT', clockSkewMs: 3_600_000 },
  { date: 'Thu, 15 Jan 2026 13:00:00 GMT', clockSkewMs: -3_600_000 },
])('measures the clock skew at 12:00 against $date: $clockSkewMs ms', async ({ date, clockSkewMs }) => {
  expect(await confirm({ policies: [], date })).toMatchObject({ clockSkewMs });
});

test('assumes no clock skew without a Date header', async () => {
  expect(await confirm({ policies: [] })).toMatchObject({ clockSkewMs: 0 });
});
