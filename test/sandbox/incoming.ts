import { badRequest } from './failure.ts';
import {
  asList,
  asObject,
  asText,
  isObject,
  without,
  type JsonObject,
  type KubeObject,
  type ObjectMeta,
} from './json.ts';
import type { RequestInfo } from './request-info.ts';
import { apiVersionOf } from './resources.ts';

/** The object that a body holds, as the decoder of its kind reads it; throws 400 where that would fail. */
export function incomingObject(info: RequestInfo, body: JsonObject): KubeObject {
  const { resource } = info;
  checkType(info, body);
  const metadata = asObject(body['metadata']);
  checkPlace(info, metadata);
  const object: KubeObject = {
    ...body,
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: cleanMetadata({
      ...metadata,
      name: asText(metadata['name']),
      ...(info.namespace === undefined ? {} : { namespace: info.namespace }),
      uid: asText(metadata['uid']),
      resourceVersion: asText(metadata['resourceVersion']),
      creationTimestamp: asText(metadata['creationTimestamp']),
    }),
  };
  resource.rules.decode(object);
  return object;
}

function checkType({ resource }: RequestInfo, body: JsonObject): void {
  const apiVersion = asText(body['apiVersion']);
  const kind = asText(body['kind']);
  const expected = apiVersionOf(resource);
  if (resource.custom) checkCustomType(body, resource.kind, expected);
  else if ((kind !== '' && kind !== resource.kind) || (apiVersion !== '' && apiVersion !== expected)) {
    const version = apiVersion.split('/').at(-1) ?? '';
    throw badRequest(
      `${kind} in version "${version}" cannot be handled as a ${resource.kind}: unknown conversion`,
    );
  }
}

function checkCustomType(body: JsonObject, kind: string, expected: string): void {
  const apiVersion = asText(body['apiVersion']);
  if (asText(body['kind']) === '') {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): Object 'Kind' is missing in '${JSON.stringify(body)}'`,
    );
  }
  if (apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  }
}

function checkPlace({ namespace, name }: RequestInfo, metadata: JsonObject): void {
  const ownNamespace = asText(metadata['namespace']);
  const ownName = asText(metadata['name']);
  if (ownNamespace !== '' && ownNamespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (name !== '' && ownName !== name) {
    throw badRequest(`the name of the object (${ownName}) does not match the name on the URL (${name})`);
  }
}

/** Without what the real server would leave out of its answer: nulls, empty maps and lists, managed fields. */
export function cleanMetadata(metadata: JsonObject): ObjectMeta {
  const kept = Object.entries(without(metadata, 'managedFields', 'selfLink')).filter(
    ([, value]) => !isEmpty(value),
  );
  return Object.fromEntries(kept) as ObjectMeta;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (isObject(value)) return Object.keys(value).length === 0;
  return Array.isArray(value) && asList(value).length === 0;
}
