import { expect, test, vi } from 'vitest';
import { nodePodsResource } from '../../../src/kube/cache/node-pods.ts';
import { Reflector } from '../../../src/kube/cache/reflector.ts';
import { systemClock as clock } from '../../../src/runtime/scheduling/clock.ts';
import { contractTransport, Objects } from '../../contract/kube/objects.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';
import { contractServer, startCrdCluster } from '../servers/contract.ts';

// The pods that Objects creates are bound to this node.
const nodeName = 'no-such-node';

test.each([
  { server: 'knows lists by watch', args: [], requests: ['watch with list'] },
  {
    server: 'is older',
    args: ['--feature-gates=WatchList=false'],
    requests: ['watch with list', 'list', 'watch'],
  },
  { server: 'has no watch cache', args: ['--watch-cache=false'], requests: ['watch with list'] },
])('an API server that $server: $requests, and no failure', async ({ args, requests }) => {
  const cluster = await startCrdCluster({ api: { args } });
  const transport = await contractTransport(contractServer(cluster));
  const objects = new Objects(transport);
  await objects.start();
  const [first, second] = [await objects.createPod(), await objects.createPod()];
  const stop = new AbortController();
  const log = new RecordingLogger();
  const resource = nodePodsResource(nodeName);
  const deps = { transport, clock, log, random: Math.random, resource };
  const pods = new Reflector({ ...deps, listsByWatch: true, pageSize: 'all' });
  const running = pods.run(stop.signal);
  await pods.whenComplete(stop.signal);
  expect([...pods.items.keys()].sort()).toEqual([first.metadata.uid, second.metadata.uid].sort());
  await objects.removePod(first.metadata.name);
  const added = await objects.createPod();
  await vi.waitFor(
    () => {
      expect([...pods.items.keys()].sort()).toEqual([second.metadata.uid, added.metadata.uid].sort());
    },
    { timeout: 30_000, interval: 50 },
  );
  stop.abort();
  await running;
  transport.close();
  await vi.waitFor(
    async () => {
      const ours = (await cluster.audit({})).filter(({ requestURI }) => requestURI.includes(nodeName));
      const names = ours.toSorted((a, b) =>
        a.requestReceivedTimestamp < b.requestReceivedTimestamp ? -1 : 1,
      );
      const sent = new Set(
        names.map(({ verb, requestURI }) =>
          requestURI.includes('sendInitialEvents=true') ? 'watch with list' : verb,
        ),
      );
      expect([...sent]).toEqual(requests);
    },
    { timeout: 30_000, interval: 200 },
  );
  expect(log.lines.filter(({ level }) => level === 'warn')).toEqual([]);
  await cluster.stop();
});
