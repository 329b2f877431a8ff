import { X509Certificate, createPrivateKey } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  only,
  render,
  renderNotes,
  ruleLines,
  workload,
  type Manifest,
  type RenderOptions,
} from './chart.ts';

const values = ['secure-values.yaml'];
const secure = { 'metrics.secure.enabled': true };
const withoutAuth = { ...secure, 'metrics.secure.auth': false };
const kinds = ['Deployment', 'DaemonSet'] as const;
const mountPath = '/etc/dustpan/metrics-tls';

describe('off by default', () => {
  test('nothing of it is rendered', async () => {
    // The pod of helm test asks for the rights of others.
    const isTest = ({ metadata }: Manifest): boolean => metadata.annotations?.['helm.sh/hook'] !== undefined;
    const manifests = (await render()).filter((one) => !isTest(one));
    expect(manifests.filter(({ kind }) => kind === 'Secret' || kind === 'Certificate')).toEqual([]);
    expect(JSON.stringify(manifests)).not.toMatch(/metrics-secure|metrics-auth|metrics-tls|reviews|https"/);
  });

  test('no credentials are sent over plain HTTP', async () => {
    const authorization = { type: 'Bearer', credentials: { name: 'a', key: 'b' } };
    const monitor = { enabled: true, renderMode: 'alwaysRender', authorization };
    const set = { 'metrics.serviceMonitor': monitor, 'metrics.podMonitor': monitor };
    for (const kind of ['ServiceMonitor', 'PodMonitor'])
      expect(JSON.stringify(only(await render({ set }), kind).spec)).not.toMatch(/https|uthorization|oken/);
  });
});

describe('rights', () => {
  const reviews = ['subjectaccessreviews create', 'tokenreviews create'];
  const rightsOf = async (role: string, options?: RenderOptions) =>
    ruleLines(only(await render(options), 'ClusterRole', role));

  test.each(['-controller', '-agent'])(
    'of the %s include reviews of readers only with authentication',
    async (role) => {
      const before = await rightsOf(role);
      expect(await rightsOf(role, { set: secure })).toEqual([...before, ...reviews].sort());
      expect(await rightsOf(role, { set: withoutAuth })).toEqual(before);
    },
  );

  test('of readers allow only to get /metrics', async () => {
    expect(await rightsOf('-metrics-reader', { set: secure })).toEqual(['/metrics get']);
  });

  test('are bound to the readers', async () => {
    expect(only(await render({ values }), 'ClusterRoleBinding', '-metrics-reader')).toMatchObject({
      roleRef: { kind: 'ClusterRole', name: 'dustpan-system-metrics-reader' },
      subjects: [{ kind: 'ServiceAccount', name: 'prometheus-k8s', namespace: 'monitoring' }],
    });
    expect(
      (await render({ set: secure })).filter(
        ({ kind, metadata }) => kind === 'ClusterRoleBinding' && metadata.name.endsWith('-metrics-reader'),
      ),
    ).toEqual([]);
  });
});

describe.each(kinds)('pods of the %s', (kind) => {
  const podOf = async (options: RenderOptions) => workload(await render(options), kind).spec.template;

  test.each([
    { set: secure, auth: '--metrics-auth=true' },
    { set: withoutAuth, auth: '--metrics-auth=false' },
  ])('get the flags, $auth', async ({ set, auth }) => {
    const [{ args }] = (await podOf({ set })).spec.containers;
    expect(args.filter((arg) => /^--metrics-(?!bind)/.test(arg))).toEqual([
      '--metrics-secure',
      `--metrics-cert-dir=${mountPath}`,
      auth,
    ]);
  });

  test.each([
    { name: 'of helm', set: secure, secretName: 'dustpan-metrics-tls' },
    {
      name: 'that exists',
      set: {
        ...secure,
        'metrics.secure.tls': { type: 'existingSecret', existingSecret: { name: 'of-mine' } },
      },
      secretName: 'of-mine',
    },
  ])('mount the whole Secret $name read-only', async ({ set, secretName }) => {
    const { containers, volumes } = (await podOf({ set })).spec;
    expect(volumes).toContainEqual({ name: 'metrics-tls', secret: { secretName } });
    expect(containers[0].volumeMounts).toContainEqual({ name: 'metrics-tls', mountPath, readOnly: true });
  });

  test('have annotations that describe how to scrape them', async () => {
    expect((await podOf({ set: secure })).metadata).toMatchObject({
      annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/scheme': 'https' },
    });
  });
});

describe('the certificate that helm makes', () => {
  const pairOf = ({ data = {} }: Manifest) => {
    const [ca, certificate, key] = ['ca.crt', 'tls.crt', 'tls.key'].map((name) =>
      Buffer.from(data[name] ?? '', 'base64'),
    );
    return {
      ca: new X509Certificate(ca ?? ''),
      certificate: new X509Certificate(certificate ?? ''),
      key: createPrivateKey(key ?? ''),
    };
  };

  test.each([
    { name: 'as a monitor expects it', set: {}, named: 'dustpan-agent-metrics.dustpan-system.svc' },
    {
      name: 'for long names',
      set: { fullnameOverride: 'a'.repeat(50), namespaceOverride: 'b'.repeat(60) },
      named: `${'a'.repeat(50)}-agent-metrics.${'b'.repeat(60)}.svc`,
    },
  ])('is signed and named $name', async ({ set, named }) => {
    const { ca, certificate, key } = pairOf(only(await render({ set: { ...secure, ...set } }), 'Secret'));
    expect(certificate.checkPrivateKey(key)).toBe(true);
    expect(certificate.verify(ca.publicKey)).toBe(true);
    expect(certificate.checkHost(named)).toBe(named);
    expect(certificate.checkHost(named.replace('-agent-', '-controller-'))).toBeDefined();
  });
});

test('cert-manager gets the names and the Secret of the certificate', async () => {
  const tls = { type: 'certManager', certManager: { issuerRef: { name: 'ours', kind: 'ClusterIssuer' } } };
  const set = { ...secure, 'metrics.secure.tls': tls };
  expect(only(await render({ set }), 'Certificate').spec).toMatchObject({
    secretName: 'dustpan-metrics-tls',
    dnsNames: expect.arrayContaining(['dustpan-agent-metrics.dustpan-system.svc']) as string[],
    issuerRef: { name: 'ours', kind: 'ClusterIssuer' },
  });
});

describe('monitors', () => {
  const endpointsOf = async (kind: string, options: RenderOptions): Promise<readonly unknown[]> =>
    (await render(options))
      .filter((one) => one.kind === kind)
      .flatMap(({ spec = {} }) => spec['endpoints'] ?? spec['podMetricsEndpoints']);
  const tlsOf = (component: string): object => ({
    scheme: 'https',
    tlsConfig: {
      serverName: `dustpan-${component}-metrics.dustpan-system.svc`,
      ca: { secret: { name: 'dustpan-metrics-tls', key: 'ca.crt' } },
    },
  });
  const ownToken = { bearerTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token' };

  test("of Services use Prometheus' own token, for controller and agents", async () => {
    expect(await endpointsOf('ServiceMonitor', { values })).toMatchObject([
      { ...tlsOf('controller'), ...ownToken },
      { ...tlsOf('agent'), ...ownToken },
    ]);
  });

  test('use another token on request', async () => {
    const authorization = { type: 'Bearer', credentials: { name: 'a', key: 'b' } };
    const set = { 'metrics.serviceMonitor.authorization': authorization };
    const endpoints = await endpointsOf('ServiceMonitor', { values, set });
    expect(endpoints).toMatchObject([{ authorization }, { authorization }]);
    expect(JSON.stringify(endpoints)).not.toContain('bearerTokenFile');
    expect(await endpointsOf('PodMonitor', { values: ['everything-values.yaml'] })).toMatchObject([
      { ...tlsOf('agent'), authorization: { credentials: { name: 'prometheus-token' } } },
    ]);
  });

  test('send no token where none is required', async () => {
    const set = { 'metrics.secure.auth': false };
    const endpoints = await endpointsOf('ServiceMonitor', { values, set });
    expect(endpoints).toMatchObject([tlsOf('controller'), tlsOf('agent')]);
    expect(JSON.stringify(endpoints)).not.toMatch(/bearerToken|authorization/);
  });
});

test.each([
  { name: 'who may read', set: secure, message: '--clusterrole=dustpan-system-metrics-reader' },
  {
    name: 'which Secret is waited for',
    set: { ...secure, 'metrics.secure.tls': { type: 'existingSecret', existingSecret: { name: 'of-mine' } } },
    message: 'until namespace dustpan-system has a Secret of-mine',
  },
  {
    name: 'what a monitor elsewhere needs',
    set: { ...secure, 'metrics.serviceMonitor': { enabled: true, namespace: 'monitoring' } },
    message: 'the monitor needs a Secret dustpan-metrics-tls with ca.crt there',
  },
])('the notes say $name', async ({ set, message }) => {
  expect(await renderNotes(set)).toContain(message);
  expect(await renderNotes()).not.toContain(message);
});
