import { expect, test } from 'vitest';
import {
  controllerConfig,
  controllerOptions,
  type ControllerConfig,
} from '../../../../src/daemon/controller/command.ts';
import { parsed } from '../../../fakes/command-line.ts';
import { FakeSystem } from '../../../fakes/system.ts';

interface Facts {
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
}

const configOf = (argv: readonly string[], facts: Facts = {}): ControllerConfig =>
  controllerConfig(parsed(controllerOptions(), argv, facts.env).opts(), new FakeSystem(facts));

test('has the defaults of the file', async () => {
  const text = JSON.stringify(configOf([]), undefined, 2);
  await expect(`${text}\n`).toMatchFileSnapshot('./__snapshots__/defaults.txt');
});

test('reads the location of the cluster from the environment', () => {
  const service = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
  const own = { POD_NAME: 'dustpan-0', DUSTPAN_CONTEXT: 'prod' };
  const env = { KUBECONFIG: '/a:/b', HOME: '/home/x', ...service, ...own };
  const place = { serviceHost: '10.0.0.1', servicePort: '443' };
  expect(configOf(['--kubeconfig=/c'], { env })).toMatchObject({
    kube: { kubeconfig: '/c', context: 'prod', kubeconfigVariable: '/a:/b', homes: ['/home/x'], ...place },
    podName: 'dustpan-0',
  });
});

const files = { '/var/run/secrets/kubernetes.io/serviceaccount/namespace': 'from-file\n' };

test.each([
  ['the flag', ['--leader-elect-resource-namespace=flag'], { env: { POD_NAMESPACE: 'pod' } }, 'flag'],
  ['else the pod', [], { env: { POD_NAMESPACE: 'pod' }, files }, 'pod'],
  ['else the service account', [], { env: { POD_NAMESPACE: '' }, files }, 'from-file'],
  ['else the default', [], {}, 'dustpan-system'],
])('namespace of the Lease: %s', (_, argv, facts, expected) =>
  expect(configOf(argv, facts).leaderElection.namespace).toBe(expected),
);
