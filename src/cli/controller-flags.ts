import {
  addressFlag,
  boolFlag,
  durationFlag,
  enumFlag,
  intFlag,
  numberFlag,
  stringFlag,
} from './flag-types.ts';

const second = 1_000;

const notLabel = (text: string): string | undefined =>
  /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text)
    ? undefined
    : `${JSON.stringify(text)} is not a namespace: lower case letters, digits and dashes, at most 63`;

/** Why a text is no path from the root; undefined when it is. */
export const notAbsolute = (text: string): string | undefined =>
  text.startsWith('/') ? undefined : `${JSON.stringify(text)} is not an absolute path`;

/** Why a text cannot name an object; undefined when it can. */
export const notSubdomain = (text: string): string | undefined =>
  text.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text)
    ? undefined
    : `${JSON.stringify(text)} is not an object name: lower case letters, digits, dashes and dots, at most 253`;

export const kubeFlags = {
  kubeconfig: stringFlag({
    name: 'kubeconfig',
    placeholder: 'FILE',
    default: '',
    help: 'How to reach the cluster. Not set: the service account when running in a pod, else $KUBECONFIG, else ~/.kube/config.',
  }),
  context: stringFlag({
    name: 'context',
    placeholder: 'NAME',
    default: '',
    help: "The context of the kubeconfig to use. Not set: the file's current context.",
  }),
  kubeApiQps: numberFlag({
    name: 'kube-api-qps',
    default: '50',
    help: 'Most requests per second to the API server on average, deletes of garbage not counted. 0 = no limit.',
  }),
  kubeApiBurst: intFlag({
    name: 'kube-api-burst',
    default: '100',
    min: 1,
    help: 'Most requests at once, on top of --kube-api-qps.',
  }),
};

const leaderFlags = {
  leaderElect: boolFlag({
    name: 'leader-elect',
    default: 'true',
    help: 'Work only while holding the Lease, so that of several replicas exactly one acts.',
  }),
  leaseDuration: durationFlag({
    name: 'leader-elect-lease-duration',
    default: '15s',
    min: second,
    help: 'How long the others wait after the last renewal before they take the Lease.',
  }),
  renewDeadline: durationFlag({
    name: 'leader-elect-renew-deadline',
    default: '10s',
    min: second,
    help: 'How long the leader tries to renew before it stops. Must be shorter than the lease duration.',
  }),
  retryPeriod: durationFlag({
    name: 'leader-elect-retry-period',
    default: '2s',
    min: 100,
    help: 'How long to wait between two tries to get or renew the Lease. 1.2 of it must be shorter than the renew deadline.',
  }),
  resourceNamespace: stringFlag({
    name: 'leader-elect-resource-namespace',
    placeholder: 'NAMESPACE',
    default: '',
    check: notLabel,
    help: "Where the Lease lives. Not set: $POD_NAMESPACE, else the service account's namespace, else dustpan-system.",
  }),
  resourceName: stringFlag({
    name: 'leader-elect-resource-name',
    placeholder: 'NAME',
    default: 'dustpan-controller',
    check: notSubdomain,
    help: 'The name of the Lease.',
  }),
};

export const serverFlags = {
  metricsBindAddress: addressFlag({
    name: 'metrics-bind-address',
    default: ':8080',
    help: 'Where /metrics is served. 0 = nowhere.',
  }),
  metricsSecure: boolFlag({
    name: 'metrics-secure',
    default: 'false',
    help: 'Serve /metrics over TLS, with the certificate in --metrics-cert-dir.',
  }),
  metricsCertDir: stringFlag({
    name: 'metrics-cert-dir',
    placeholder: 'DIRECTORY',
    default: '',
    check: notAbsolute,
    help: 'Where tls.crt and tls.key are, for --metrics-secure. Looked at every 10s: a renewed certificate needs no restart.',
  }),
  metricsAuth: boolFlag({
    name: 'metrics-auth',
    default: 'false',
    help: 'Answer only to a bearer token whose user may get the nonResourceURL /metrics, as the API server says. Needs --metrics-secure, and the rights to create tokenreviews and subjectaccessreviews.',
  }),
  healthProbeBindAddress: addressFlag({
    name: 'health-probe-bind-address',
    default: ':8081',
    help: 'Where /healthz and /readyz are served. 0 = nowhere.',
  }),
};

export const logFlags = {
  verbosity: intFlag({
    name: 'v',
    short: 'v',
    default: '2',
    max: 10,
    help: 'How much to log: 0 errors and warnings, 2 what was changed, 4 why something was not, 5 stacks of errors.',
  }),
  logFormat: enumFlag({
    name: 'log-format',
    values: ['json', 'text'],
    default: 'json',
    help: 'One JSON object a line, or text for people.',
  }),
};

/** Of `dustpan controller`, by topic. */
export const controllerFlags = {
  ...kubeFlags,
  ...leaderFlags,
  maxDeleteQps: numberFlag({
    name: 'max-delete-qps',
    default: '0',
    help: 'Most deletes of pods per second. 0 = as many as the API server takes well: the pace adapts to its answers.',
  }),
  podGcPeriod: durationFlag({
    name: 'pod-gc-period',
    default: '20s',
    min: second,
    help: 'How long to wait between two passes over the pods.',
  }),
  ...serverFlags,
  ...logFlags,
};
