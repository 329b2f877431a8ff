import { cause, type StatusCause } from './failure.ts';
import { asObject, asText, isEqual, type JsonObject, type KubeObject } from './json.ts';
import { checkMicroTime } from './micro-time.ts';
import { plainRules } from './rules-plain.ts';
import type { Rules } from './rules.ts';

/** events.k8s.io/v1: strict when created, and then only its series may change. Errors use the names of the older core/v1 Event. */
export const eventRules: Rules = {
  ...plainRules({ generation: false }),
  createOnUpdate: true,
  errorGroup: '',
  decode: (event) => {
    checkMicroTime('Event', event['eventTime']);
    checkMicroTime('Event', asObject(event['series'])['lastObservedTime']);
  },
  admit: (object, old) => ({
    object,
    causes: [
      ...namespaceCauses(object),
      ...(old === undefined ? newCauses(object) : changeCauses(object, old)),
    ],
  }),
  fields: (event) => ({
    reason: asText(event['reason']),
    type: asText(event['type']),
    reportingController: asText(event['reportingController']),
    'regarding.kind': asText(asObject(event['regarding'])['kind']),
    'regarding.name': asText(asObject(event['regarding'])['name']),
    'regarding.namespace': asText(asObject(event['regarding'])['namespace']),
    'regarding.uid': asText(asObject(event['regarding'])['uid']),
  }),
};

const maxNoteBytes = 1024;
const maxTextBytes = 128;

/** What regards a cluster-scoped object lives in one of two namespaces. */
function namespaceCauses(event: KubeObject): readonly StatusCause[] {
  if (asText(asObject(event['regarding'])['namespace']) !== '') return [];
  if (['default', 'kube-system'].includes(event.metadata.namespace ?? '')) return [];
  return [cause.invalid('involvedObject.namespace', 'does not match event.namespace')];
}

function newCauses(event: KubeObject): readonly StatusCause[] {
  return [
    ...(asText(event['eventTime']) === '' ? [cause.required('eventTime')] : []),
    ...seriesCauses(event['series']),
    ...controllerCauses(asText(event['reportingController'])),
    ...['reportingInstance', 'action', 'reason'].flatMap((field) => textCauses(event, field)),
    ...typeCauses(asText(event['type'])),
    ...noteCauses(asText(event['note'])),
    ...deprecatedCauses(event),
  ];
}

function seriesCauses(series: unknown): readonly StatusCause[] {
  if (series === undefined || series === null) return [];
  const { count, lastObservedTime } = asObject(series);
  return [
    ...(Number(count ?? 0) < 2 ? [cause.invalid('series.count', 'should be at least 2')] : []),
    ...(asText(lastObservedTime) === '' ? [cause.required('series.lastObservedTime')] : []),
  ];
}

const nameShape = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const nameMessage =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character" +
  " (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

function controllerCauses(name: string): readonly StatusCause[] {
  const field = 'reportingController';
  const parts = name.split('/');
  if (name === '') {
    return [
      cause.required(field),
      cause.invalid(field, 'name part must be non-empty'),
      cause.invalid(field, nameMessage),
    ];
  }
  return parts.length <= 2 && nameShape.test(parts.at(-1) ?? '')
    ? []
    : [cause.invalid(field, nameMessage, name)];
}

function textCauses(event: JsonObject, field: string): readonly StatusCause[] {
  const bytes = Buffer.byteLength(asText(event[field]));
  if (bytes === 0) return [cause.required(field)];
  return bytes > maxTextBytes ? [cause.invalid(field, `can have at most ${maxTextBytes} characters`)] : [];
}

function typeCauses(type: string): readonly StatusCause[] {
  return ['Normal', 'Warning'].includes(type) ? [] : [cause.invalid('type', `has invalid value: ${type}`)];
}

function noteCauses(note: string): readonly StatusCause[] {
  if (Buffer.byteLength(note) <= maxNoteBytes) return [];
  return [cause.invalid('message', `can have at most ${maxNoteBytes} characters`)];
}

const deprecated = {
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
  deprecatedSource: 'source',
};

function deprecatedCauses(event: JsonObject): readonly StatusCause[] {
  return Object.entries(deprecated)
    .filter(([name]) => event[name] !== undefined && event[name] !== null && !isEqual(event[name], {}))
    .map(([, field]) => cause.invalid(field, 'needs to be unset'));
}

const immutable = {
  regarding: 'involvedObject',
  reason: 'reason',
  note: 'message',
  type: 'type',
  eventTime: 'eventTime',
  action: 'action',
  related: 'related',
  reportingController: 'reportingController',
  reportingInstance: 'reportingInstance',
};

function changeCauses(event: JsonObject, old: JsonObject): readonly StatusCause[] {
  return Object.entries(immutable)
    .filter(([name]) => !isEqual(event[name], old[name]))
    .map(([name, field]) => cause.invalid(field, 'field is immutable', event[name]));
}
