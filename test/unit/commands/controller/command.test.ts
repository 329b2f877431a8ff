import { describe, expect, test } from 'vitest';
import {
  controllerConfig,
  controllerOptions,
  type ControllerConfig,
} from '../../../../src/commands/controller/command.ts';
import { parsed } from '../../../fakes/command-line.ts';
import { FakeSystem } from '../../../fakes/system.ts';

const namespaceFile = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

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
  const env = {
    KUBECONFIG: '/a:/b',
    HOME: '/home/x',
    KUBERNETES_SERVICE_HOST: '10.0.0.1',
    KUBERNETES_SERVICE_PORT: '443',
    POD_NAME: 'dustpan-0',
    DUSTPAN_CONTEXT: 'prod',
  };
  const service = { serviceHost: '10.0.0.1', servicePort: '443' };
  expect(configOf(['--kubeconfig=/c'], { env })).toMatchObject({
    kube: { kubeconfig: '/c', context: 'prod', kubeconfigVariable: '/a:/b', homes: ['/home/x'], ...service },
    podName: 'dustpan-0',
  });
});

describe('namespace of the Lease', () => {
  const files = { [namespaceFile]: 'from-file\n' };
  test.each([
    ['the flag', ['--leader-elect-resource-namespace=flag'], { env: { POD_NAMESPACE: 'pod' } }, 'flag'],
    ['else the pod', [], { env: { POD_NAMESPACE: 'pod' }, files }, 'pod'],
    ['else the service account', [], { env: { POD_NAMESPACE: '' }, files }, 'from-file'],
    ['else the default', [], {}, 'dustpan-system'],
  ])('%s', (_, argv, facts, expected) => {
    expect(configOf(argv, facts).leaderElection.namespace).toBe(expected);
  });
});

test.each([
  ['--leader-elect-lease-duration=10001ms'],
  ['--leader-elect-retry-period=8s'],
  ['--leader-elect-lease-duration=1s', '--leader-elect=false'],
  [`--leader-elect-resource-namespace=${'a'.repeat(63)}`],
  ['--leader-elect-resource-name=a.b-c'],
])('%s is no bad usage', (...argv) => {
  expect(() => configOf(argv)).not.toThrow();
});

test('serves metrics over TLS, to authorized users only', () => {
  const secure = ['--metrics-secure', '--metrics-cert-dir=/tls'];
  expect(configOf(secure).metricsSecurity).toEqual({ certDirectory: '/tls', isAuthorized: false });
  expect(configOf([...secure, '--metrics-auth']).metricsSecurity.isAuthorized).toBe(true);
  expect(configOf(['--metrics-cert-dir=/tls']).metricsSecurity.certDirectory).toBeUndefined();
});
