const duration = '^([0-9]+w)?([0-9]+d)?([0-9]+(\\.[0-9]+)?(ms|[smh]))*$';
const quantities = {
  type: 'object',
  additionalProperties: { type: ['string', 'number'] },
};

/** Fields beside these, which the chart sets itself. */
const fieldsBeside = (...own) => ({
  type: 'object',
  properties: Object.fromEntries(own.map((name) => [name, false])),
});

/** The schemas of `# @type NAME` in values.yaml. The API server validates types of Kubernetes. */
export const shapes = {
  podSpec: fieldsBeside(
    'affinity',
    'automountServiceAccountToken',
    'containers',
    'imagePullSecrets',
    'nodeSelector',
    'priorityClassName',
    'securityContext',
    'serviceAccountName',
    'tolerations',
    'topologySpreadConstraints',
    'volumes',
  ),
  endpoint: fieldsBeside('authorization', 'bearerTokenFile', 'path', 'port', 'scheme', 'tlsConfig'),
  monitorSpec: fieldsBeside('endpoints', 'namespaceSelector', 'podMetricsEndpoints', 'selector'),
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
