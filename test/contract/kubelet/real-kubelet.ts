import { readFileSync } from 'node:fs';
import { createPods, measuring, startQuietNode, uidOf } from '../../cluster/agent/environment.ts';
import { busyboxImage } from '../../cluster/node/image.ts';
import type { KubeletUnderTest } from './kubelet-under-test.ts';
import { waitUntil } from '../../cluster/servers/waiting.ts';
import { evictionHard } from '../../cluster/node/spec.ts';
import { kubeletTokens, kubeletOf } from '../../cluster/node/kubelet-api.ts';

const never = new AbortController().signal;
const mebi = 1024 * 1024;
const bytes = { dataBytes: 12 * mebi, shmBytes: 3 * mebi, layerBytes: 5 * mebi, logBytes: mebi };

/** The pod writes files without holes, and log lines. */
const script = [
  'dd if=/dev/zero of=/data/x bs=1048576 count=12 2>/dev/null',
  'dd if=/dev/zero of=/shm/x bs=1048576 count=3 2>/dev/null',
  'dd if=/dev/zero of=/layer bs=1048576 count=5 2>/dev/null',
  // With time and stream the runtime writes 40 bytes more for each line.
  "i=0; line=$(printf '%01008d' 0); while [ $i -lt 1000 ]; do echo $line; i=$((i+1)); done",
  'sleep 100000',
].join('; ');

/** Starts a real node whose kubelet has measured a pod. */
export async function startRealKubelet(): Promise<KubeletUnderTest> {
  const cluster = await startQuietNode({
    images: [busyboxImage],
    config: { ...measuring, evictionHard },
  });
  await createPods(cluster, {
    web: {
      ...{ image: busyboxImage.ref, script },
      volumes: [
        { name: 'data', emptyDir: {} },
        { name: 'shm', emptyDir: { medium: 'Memory' } },
      ],
      volumeMounts: [
        { name: 'data', mountPath: '/data' },
        { name: 'shm', mountPath: '/shm' },
      ],
    },
  });
  const { name: nodeName, address } = cluster.node;
  const endpoint = `https://${address}:10250`;
  const ca = readFileSync(cluster.caFile, 'utf8');
  const tokens = await kubeletTokens(cluster);
  const uid = await uidOf(cluster, 'web');
  const kubelet = kubeletOf(cluster, tokens.stats);
  await waitUntil('the kubelet has measured the pod', async () => {
    const pod = (await kubelet.usage(never).catch(() => undefined))?.pods.get(uid);
    const [main] = pod?.containers ?? [];
    const values = [pod?.volumes.get('data'), pod?.volumes.get('shm'), main?.layer, main?.logs];
    const expected = [bytes.dataBytes, bytes.shmBytes, bytes.layerBytes, bytes.logBytes];
    return values.every((value, i) => (value?.bytes ?? 0) >= (expected[i] ?? 0));
  });
  kubelet.close();
  return {
    ...{ endpoint, nodeName, ca, tokens },
    thresholds: { ...evictionHard },
    pod: { uid, container: 'main', ...bytes },
    stop: () => cluster.stop(),
  };
}
