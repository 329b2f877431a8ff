const duration = '^([0-9]+w)?([0-9]+d)?([0-9]+(\\.[0-9]+)?(ms|[smh]))*$';
const quantities = {
  type: 'object',
  additionalProperties: { type: ['string', 'number'] },
};

/** Fields beside these, which the chart sets itself, mostly from another value. A `false` schema would give no reason: Helm prints the constant. */
const fieldsBeside = (own) => ({
  type: 'object',
  properties: Object.fromEntries(
    Object.entries(own).map(([name, from]) => [
      name,
      { const: `absent here: the chart sets this field${from === '' ? '' : ` from the value ${from}`}` },
    ]),
  ),
});

/** The schemas of `# @type NAME` in values.yaml. The API server validates types of Kubernetes. */
export const shapes = {
  podSpec: fieldsBeside({
    affinity: 'affinity',
    automountServiceAccountToken: 'serviceAccount.automount',
    containers: 'extraContainers',
    imagePullSecrets: 'imagePullSecrets',
    nodeSelector: 'nodeSelector',
    priorityClassName: 'priorityClassName',
    securityContext: 'podSecurityContext',
    serviceAccountName: 'serviceAccount.name',
    tolerations: 'tolerations',
    topologySpreadConstraints: 'controller.topologySpreadConstraints',
    volumes: 'extraVolumes',
  }),
  endpoint: fieldsBeside({
    authorization: 'authorization',
    bearerTokenFile: 'metrics.secure.auth',
    path: '',
    port: 'metrics.port',
    scheme: 'metrics.secure.enabled',
    tlsConfig: 'metrics.secure.tls',
  }),
  monitorSpec: fieldsBeside({
    endpoints: 'endpoint',
    namespaceSelector: '',
    podMetricsEndpoints: 'endpoint',
    selector: '',
  }),
  labels: { type: 'object', additionalProperties: { type: 'string' } },
  object: { type: 'object' },
  probe: { type: ['object', 'null'] },
  objects: { type: 'array', items: { type: 'object' } },
  manifests: { type: 'array', items: { type: ['object', 'string'] } },
  strings: { type: 'array', items: { type: 'string' } },
  resources: {
    type: 'object',
    additionalProperties: false,
    properties: {
      requests: { ...quantities, type: ['object', 'null'] },
      limits: { ...quantities, type: ['object', 'null'] },
      claims: { type: 'array', items: { type: 'object' } },
    },
  },
  number: { type: 'number', minimum: 0 },
  count: { type: ['integer', 'string'], minimum: 0, pattern: '^([0-9]+%?)?$' },
  port: { type: 'integer', minimum: 1, maximum: 65535 },
  ports: { type: 'array', minItems: 1, items: { type: 'integer', minimum: 1, maximum: 65535 } },
  path: { type: 'string', pattern: '^/.+$' },
  duration: { type: 'string', pattern: duration, minLength: 2 },
};
