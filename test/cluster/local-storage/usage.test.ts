// @bed node
import { expect, test } from 'vitest';
import { startQuietNode } from '../agent/environment.ts';
import { kubeletOf, kubeletTokens } from '../node/kubelet-api.ts';

test('a kubelet that does not measure local storage has no summary, and the error names the consequence', async () => {
  await using cluster = await startQuietNode({
    config: { localStorageCapacityIsolation: false },
  });
  const { stats } = await kubeletTokens(cluster);
  const kubelet = kubeletOf(cluster, stats);
  await expect(kubelet.usage(new AbortController().signal)).rejects.toThrow(
    /with 500: .*failed to get rootFs info.*dustpan evicts no pod of this node$/,
  );
  kubelet.close();
});
