import { evictionHard } from '../../cluster/node/spec.ts';
import { startKubeletSandbox } from '../../sandbox/kubelet/server.ts';
import type { KubeletUnderTest } from './kubelet-under-test.ts';

const pod = {
  uid: '5d827af3-e5b1-5b6c-b6da-ea24f211b68a',
  container: 'main',
  dataBytes: 12_000_000,
  shmBytes: 3_000_000,
  layerBytes: 5_000_000,
  logBytes: 1_000_000,
};

/** Starts the sandbox of the kubelet. */
export async function startSandboxKubelet(): Promise<KubeletUnderTest> {
  const sandbox = await startKubeletSandbox({ nodeName: 'node-1', token: 'stats' });
  sandbox.configz = { kubeletconfig: { evictionHard } };
  sandbox.tokens.set('nothing', 'nothing');
  sandbox.pods = [
    { uid: 'other', name: 'other' },
    {
      ...{ uid: pod.uid, name: 'web' },
      containers: [{ name: 'main', layer: pod.layerBytes, logs: pod.logBytes }],
      volumes: { data: pod.dataBytes, shm: pod.shmBytes },
      uncounted: ['shm'],
      otherBytes: 4096,
    },
  ];
  return {
    endpoint: sandbox.endpoint,
    nodeName: 'node-1',
    ca: sandbox.certificate.ca,
    tokens: { stats: 'stats', nothing: 'nothing' },
    thresholds: { ...evictionHard },
    pod,
    stop: () => sandbox.stop(),
  };
}
