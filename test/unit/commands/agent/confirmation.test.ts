import { expect, test } from 'vitest';
import { nodeConfirmation } from '../../../../src/commands/agent/confirmation.ts';
import type { KubeResponse } from '../../../../src/kube/http/transport.ts';
import { ManualClock } from '../../../fakes/manual-clock.ts';
import { FakeTransport } from '../../../fakes/transport.ts';

const policy = (mode: string, nodeSelector = {}): object => ({
  metadata: { name: 'default', uid: 'p1', generation: 3 },
  spec: { mode, nodes: { nodeSelector, imageGC: {} } },
});

interface World {
  readonly policies: readonly object[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly date?: string;
}

class Server extends FakeTransport {
  readonly #date: string | undefined;

  constructor({ policies, labels = {}, date }: World) {
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

const confirm = (world: World) =>
  nodeConfirmation({ transport: new Server(world), clock: new ManualClock(), nodeName: 'node-1' })(
    new AbortController().signal,
  );

test.each<World & { name: string; expected: object }>([
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
])('tells $name', async ({ expected, ...world }) => {
  expect((await confirm(world)).governance).toMatchObject(expected);
});

test.each([
  { date: 'Thu, 15 Jan 2026 11:00:00 GMT', clockSkewMs: 3_600_000 },
  { date: 'Thu, 15 Jan 2026 13:00:00 GMT', clockSkewMs: -3_600_000 },
])('our clock at 12:00, the API server’s $date: $clockSkewMs ms', async ({ date, clockSkewMs }) => {
  expect(await confirm({ policies: [], date })).toMatchObject({ clockSkewMs });
});

test('an API server that does not tell the time is believed to have ours', async () => {
  expect(await confirm({ policies: [] })).toMatchObject({ clockSkewMs: 0 });
});
