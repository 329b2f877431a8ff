/**
 * Kinds of others that the chart can render, as CRDs of our own: no more than the fields that it writes, so that an API server asked to be strict
 * refuses a misspelt one. They are not the Prometheus operator's or cert-manager's own, and say nothing of their other rules.
 */
export const foreignKinds: readonly object[] = [
  crd(
    'monitoring.coreos.com',
    'ServiceMonitor',
    monitorOf(['endpoints', 'targetLabels'], { bearerTokenFile: text() }),
  ),
  crd('monitoring.coreos.com', 'PodMonitor', monitorOf(['podMetricsEndpoints', 'podTargetLabels'], {})),
  crd(
    'monitoring.coreos.com',
    'PrometheusRule',
    object({
      groups: list(
        object(
          { name: text(), interval: text(), limit: whole(), labels: texts(), rules: list(rule()) },
          'name',
        ),
      ),
    }),
  ),
  crd(
    'cert-manager.io',
    'Certificate',
    object(
      {
        secretName: text(),
        dnsNames: list(text()),
        duration: text(),
        renewBefore: text(),
        privateKey: object({ algorithm: text(), size: whole(), rotationPolicy: text(), encoding: text() }),
        usages: list(text()),
        issuerRef: object({ name: text(), kind: text(), group: text() }, 'name'),
      },
      'secretName',
      'issuerRef',
    ),
  ),
];

function rule(): object {
  return object(
    {
      alert: text(),
      record: text(),
      expr: text(),
      for: text(),
      keep_firing_for: text(),
      labels: texts(),
      annotations: texts(),
    },
    'expr',
  );
}

function monitorOf(
  [endpoints, targetLabels]: readonly [string, string],
  more: Readonly<Record<string, object>>,
): object {
  const relabelings = list(
    object({
      sourceLabels: list(text()),
      separator: text(),
      targetLabel: text(),
      regex: text(),
      replacement: text(),
      action: text(),
    }),
  );
  const secretKey = object({ name: text(), key: text() }, 'key');
  const endpoint = object({
    port: text(),
    path: text(),
    scheme: { type: 'string', enum: ['http', 'https'] },
    interval: text(),
    scrapeTimeout: text(),
    honorLabels: { type: 'boolean' },
    tlsConfig: object({ serverName: text(), ca: object({ secret: secretKey, configMap: secretKey }) }),
    authorization: object({ type: text(), credentials: secretKey }),
    relabelings,
    metricRelabelings: relabelings,
    ...more,
  });
  const selector = object({ matchLabels: texts() });
  const namespaceSelector = object({ any: { type: 'boolean' }, matchNames: list(text()) });
  return object(
    {
      ...{ selector, namespaceSelector, sampleLimit: { type: 'integer' } },
      ...{ [targetLabels]: list(text()), [endpoints]: list(endpoint) },
    },
    'selector',
    endpoints,
  );
}

function crd(group: string, kind: string, spec: object): object {
  const singular = kind.toLowerCase();
  const plural = `${singular}s`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: object({ spec }, 'spec') } },
      ],
    },
  };
}

function object(properties: Readonly<Record<string, object>>, ...required: readonly string[]): object {
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

function list(items: object): object {
  return { type: 'array', items };
}

function texts(): object {
  return { type: 'object', additionalProperties: text() };
}

function text(): object {
  return { type: 'string' };
}

function whole(): object {
  return { type: 'integer' };
}
