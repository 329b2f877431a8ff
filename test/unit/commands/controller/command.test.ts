import { describe, expect, test } from 'vitest';
import {
  controllerConfig,
  controllerOptions,
  type ControllerConfig,
} from '../../../../src/commands/controller/command.ts';
import { UsageError } from '../../../../src/commands/cli/exit.ts';
import { parsed, problemOf } from '../../../fakes/command-line.ts';
import { FakeSystem } from '../../../fakes/system.ts';

const namespaceFile = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

interface Facts {
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
}

const configOf = (argv: readonly string[], facts: Facts = {}): ControllerConfig =>
  controllerConfig(parsed(controllerOptions(), argv, facts.env).opts(), new FakeSystem(facts));

function problemsOf(argv: readonly string[]): readonly string[] {
  try {
    configOf(argv);
  } catch (err) {
    if (err instanceof UsageError) return err.problems;
    throw err;
  }
  return [];
}

test('has the documented defaults', () => {
  expect(configOf([])).toMatchObject({
    kube: {
      kubeconfig: undefined,
      context: undefined,
      kubeconfigVariable: undefined,
      homes: [],
      serviceHost: undefined,
      servicePort: undefined,
    },
    kubeApiQps: 50,
    kubeApiBurst: 100,
    maxDeleteQps: 0,
    leaderElection: {
      enabled: true,
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2_000,
      namespace: 'dustpan-system',
      name: 'dustpan-controller',
    },
    metricsBindAddress: ':8080',
    metricsSecurity: { certDirectory: undefined, isAuthorized: false },
    healthProbeBindAddress: ':8081',
    podGcPeriodMs: 20_000,
    v: 2,
    logFormat: 'json',
    podName: undefined,
    podNamespace: 'dustpan-system',
  });
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
  expect(configOf(['--kubeconfig=/c'], { env })).toMatchObject({
    kube: {
      kubeconfig: '/c',
      context: 'prod',
      kubeconfigVariable: '/a:/b',
      homes: ['/home/x'],
      serviceHost: '10.0.0.1',
      servicePort: '443',
    },
    podName: 'dustpan-0',
  });
});

describe('namespace of the Lease', () => {
  const files = { [namespaceFile]: 'from-file\n' };
  test.each([
    {
      name: 'the flag',
      argv: ['--leader-elect-resource-namespace=flag'],
      facts: { env: { POD_NAMESPACE: 'pod' } },
      expected: 'flag',
    },
    { name: 'else the pod', argv: [], facts: { env: { POD_NAMESPACE: 'pod' }, files }, expected: 'pod' },
    {
      name: 'else the service account',
      argv: [],
      facts: { env: { POD_NAMESPACE: '' }, files },
      expected: 'from-file',
    },
    { name: 'else the default', argv: [], facts: {}, expected: 'dustpan-system' },
  ])('$name', ({ argv, facts, expected }) => {
    expect(configOf(argv, facts).leaderElection.namespace).toBe(expected);
  });
});

describe('leader election', () => {
  const lease = 'controller: --leader-elect-lease-duration must be longer than --leader-elect-renew-deadline';
  const renew =
    'controller: --leader-elect-renew-deadline must be longer than 1.2 × --leader-elect-retry-period';
  test.each([
    { argv: ['--leader-elect-lease-duration=10s'], expected: [lease] },
    { argv: ['--leader-elect-lease-duration=10001ms'], expected: [] },
    { argv: ['--leader-elect-retry-period=8.4s'], expected: [renew] },
    { argv: ['--leader-elect-retry-period=8s'], expected: [] },
    {
      argv: ['--leader-elect-renew-deadline=20s', '--leader-elect-retry-period=20s'],
      expected: [lease, renew],
    },
    { argv: ['--leader-elect-lease-duration=1s', '--leader-elect=false'], expected: [] },
  ])('$argv', ({ argv, expected }) => {
    expect(problemsOf(argv)).toEqual(expected);
  });
});

describe('names', () => {
  test.each([
    { argv: ['--leader-elect-resource-namespace=Kube'], isValid: false },
    { argv: [`--leader-elect-resource-namespace=${'a'.repeat(64)}`], isValid: false },
    { argv: [`--leader-elect-resource-namespace=${'a'.repeat(63)}`], isValid: true },
    { argv: ['--leader-elect-resource-name='], isValid: false },
    { argv: ['--leader-elect-resource-name=a.b-c'], isValid: true },
    { argv: ['--leader-elect-resource-name=a_b'], isValid: false },
    { argv: ['--leader-elect-resource-name=a..b'], isValid: false },
    { argv: [`--leader-elect-resource-name=${'a'.repeat(254)}`], isValid: false },
  ])('$argv', ({ argv, isValid }) => {
    expect(problemOf(controllerOptions(), argv) === undefined).toBe(isValid);
  });
});

test('serves metrics over TLS, to authorized users only', () => {
  const secure = ['--metrics-secure', '--metrics-cert-dir=/tls'];
  expect(configOf(secure).metricsSecurity).toEqual({ certDirectory: '/tls', isAuthorized: false });
  expect(configOf([...secure, '--metrics-auth']).metricsSecurity.isAuthorized).toBe(true);
  expect(configOf(['--metrics-cert-dir=/tls']).metricsSecurity.certDirectory).toBeUndefined();
});

test.each([
  [['--metrics-secure'], '--metrics-secure needs --metrics-cert-dir'],
  [
    ['--metrics-auth', '--metrics-cert-dir=/tls'],
    '--metrics-auth needs --metrics-secure: tokens are not sent over plain HTTP',
  ],
])('%j is refused', (argv, problem) => {
  expect(problemsOf(argv)).toEqual([`controller: ${problem}`]);
});
