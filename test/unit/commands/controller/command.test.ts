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
  const lease = { namespace: 'dustpan-system', name: 'dustpan-controller' };
  const times = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
  expect(configOf([])).toMatchObject({
    kube: { homes: [], kubeconfig: undefined, serviceHost: undefined },
    kubeApiQps: 50,
    kubeApiBurst: 100,
    maxDeleteQps: 0,
    leaderElection: { enabled: true, ...times, ...lease },
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

describe('leader election', () => {
  const lease = 'controller: --leader-elect-lease-duration must be longer than --leader-elect-renew-deadline';
  const renew =
    'controller: --leader-elect-renew-deadline must be longer than 1.2 × --leader-elect-retry-period';
  test.each([
    [['--leader-elect-lease-duration=10s'], [lease]],
    [['--leader-elect-lease-duration=10001ms'], []],
    [['--leader-elect-retry-period=8.4s'], [renew]],
    [['--leader-elect-retry-period=8s'], []],
    [
      ['--leader-elect-renew-deadline=20s', '--leader-elect-retry-period=20s'],
      [lease, renew],
    ],
    [['--leader-elect-lease-duration=1s', '--leader-elect=false'], []],
  ])('%j', (argv, expected) => {
    expect(problemsOf(argv)).toEqual(expected);
  });
});

test.each([
  ['namespace=Kube', false],
  [`namespace=${'a'.repeat(64)}`, false],
  [`namespace=${'a'.repeat(63)}`, true],
  ['name=', false],
  ['name=a.b-c', true],
  ['name=a_b', false],
  ['name=a..b', false],
  [`name=${'a'.repeat(254)}`, false],
])('the name --leader-elect-resource-%s is valid: %s', (flag, isValid) => {
  const problem = problemOf(controllerOptions(), [`--leader-elect-resource-${flag}`]);
  expect(problem === undefined).toBe(isValid);
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
