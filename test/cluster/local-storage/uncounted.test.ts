// @bed node
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tokenCredentials } from '../../../src/kube/auth/credentials.ts';
import { KubeletUsage } from '../../../src/node/kubelet/source.ts';
import { systemClock as clock } from '../../../src/runtime/scheduling/clock.ts';
import { startQuietNode } from '../agent/environment.ts';
import { kubeletTokens } from '../node/kubelet-tokens.ts';

test('a kubelet that does not measure local storage has no summary, and the error says what follows', async () => {
  await using cluster = await startQuietNode({
    kubelet: { config: { localStorageCapacityIsolation: false } },
  });
  const { name: nodeName, address } = cluster.node;
  const { stats } = await kubeletTokens(cluster);
  const kubelet = new KubeletUsage({
    ...{ endpoint: `https://${address}:10250`, nodeName, clock },
    cluster: {
      endpoint: { server: '', tls: { ca: readFileSync(cluster.caFile) } },
      ...{ auth: tokenCredentials(stats), source: 'test' },
    },
    trust: { isInsecure: false, caFile: undefined, ownFile: '' },
  });
  await expect(kubelet.usage(new AbortController().signal)).rejects.toThrow(
    /with 500: .*failed to get rootFs info.*dustpan evicts no pod of this node$/,
  );
  kubelet.close();
});
