import type { JsonObject } from './json.ts';

export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** What a Status says beside its message. */
interface StatusFacts {
  readonly code: number;
  readonly reason?: string;
  readonly details?: JsonObject;
  readonly metadata?: JsonObject;
}

/** A request that the server refuses, with the Status that says so. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: number;
  readonly status: JsonObject;

  constructor(message: string, { code, metadata = {}, reason, details }: StatusFacts) {
    super(message);
    this.code = code;
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata,
      status: 'Failure',
      message,
      ...(reason === undefined ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    };
  }
}

/** Paths that no API is installed at are answered outside of the API machinery, in plain text. */
export class PageNotFound extends Error {
  override readonly name = 'PageNotFound';
}

/** A resource as errors name it. */
interface Named {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

const dotted = (name: string, group: string): string => (group === '' ? name : `${name}.${group}`);
const grouped = (group: string): JsonObject => (group === '' ? {} : { group });

const resourceDetails = ({ group, plural }: Named, name: string): JsonObject => ({
  name,
  ...grouped(group),
  kind: plural,
});

export function resourceName({ group, plural }: Pick<Named, 'group' | 'plural'>): string {
  return dotted(plural, group);
}

export function notFound(resource: Named, name: string): Failure {
  const details = resourceDetails(resource, name);
  return new Failure(`${resourceName(resource)} "${name}" not found`, {
    code: 404,
    reason: 'NotFound',
    details,
  });
}

export function alreadyExists(resource: Named, name: string): Failure {
  const details = resourceDetails(resource, name);
  return new Failure(`${resourceName(resource)} "${name}" already exists`, {
    code: 409,
    reason: 'AlreadyExists',
    details,
  });
}

export function conflict(resource: Named, name: string, why: string): Failure {
  const message = `Operation cannot be fulfilled on ${resourceName(resource)} "${name}": ${why}`;
  return new Failure(message, { code: 409, reason: 'Conflict', details: resourceDetails(resource, name) });
}

/** Preconditions name the kind where other conflicts name the resource. */
export function preconditionFailed({ group, kind }: Named, name: string, why: string): Failure {
  return conflict({ group, plural: kind, kind }, name, why);
}

export function invalid({ group, kind }: Named, name: string, causes: readonly StatusCause[]): Failure {
  const lines = [...new Set(causes.map((cause) => `${cause.field}: ${cause.message}`))];
  const what = lines.length === 1 ? lines.join() : `[${lines.join(', ')}]`;
  const details = { ...(name === '' ? {} : { name }), ...grouped(group), kind, causes };
  const message = `${dotted(kind, group)} "${name}" is invalid: ${what}`;
  return new Failure(message, { code: 422, reason: 'Invalid', details });
}

export function badRequest(message: string): Failure {
  return new Failure(message, { code: 400, reason: 'BadRequest' });
}

export function methodNotAllowed(): Failure {
  const message = 'the server does not allow this method on the requested resource';
  return new Failure(message, { code: 405, reason: 'MethodNotAllowed', details: {} });
}

export function noSuchResource(): Failure {
  const message = 'the server could not find the requested resource';
  return new Failure(message, { code: 404, reason: 'NotFound', details: {} });
}

export function unauthorized(): Failure {
  return new Failure('Unauthorized', { code: 401, reason: 'Unauthorized' });
}

/** 415: `text` says what would have been accepted. */
export function unsupportedMediaType(text: string): Failure {
  return new Failure(text, { code: 415, reason: 'UnsupportedMediaType' });
}

export const cause = {
  invalid: (field: string, message: string, value: unknown = ''): StatusCause => ({
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${JSON.stringify(value)}: ${message}`,
    field,
  }),
  required: (field: string, message?: string): StatusCause => ({
    reason: 'FieldValueRequired',
    message: message === undefined ? 'Required value' : `Required value: ${message}`,
    field,
  }),
  forbidden: (field: string, message: string): StatusCause => ({
    reason: 'FieldValueForbidden',
    message: `Forbidden: ${message}`,
    field,
  }),
  unsupported: (field: string, value: unknown, supported: readonly string[]): StatusCause => ({
    reason: 'FieldValueNotSupported',
    message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported.map((s) => JSON.stringify(s)).join(', ')}`,
    field,
  }),
};
