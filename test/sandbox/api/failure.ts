import type { JsonObject } from './format/json.ts';

interface StatusFacts {
  readonly code: number;
  readonly reason?: string;
  readonly details?: JsonObject;
}

export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: number;
  readonly status: JsonObject;

  constructor(message: string, { code, reason, details }: StatusFacts) {
    super(message);
    this.code = code;
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      ...(reason === undefined ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    };
  }
}

/** No API is installed at this path. The real server responds in plain text. */
export class PageNotFound extends Error {
  override readonly name = 'PageNotFound';
}

export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

interface Named {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

const dotted = (name: string, group: string): string => (group === '' ? name : `${name}.${group}`);
const grouped = (group: string): JsonObject => (group === '' ? {} : { group });

export const resourceName = ({ group, plural }: Pick<Named, 'group' | 'plural'>): string =>
  dotted(plural, group);

export const objectDetails = ({ group, plural }: Omit<Named, 'kind'>, name: string): JsonObject => ({
  name,
  ...grouped(group),
  kind: plural,
});

export const notFound = (resource: Named, name: string): Failure =>
  new Failure(`${resourceName(resource)} "${name}" not found`, {
    code: 404,
    reason: 'NotFound',
    details: objectDetails(resource, name),
  });

export const alreadyExists = (resource: Named, name: string): Failure =>
  new Failure(`${resourceName(resource)} "${name}" already exists`, {
    code: 409,
    reason: 'AlreadyExists',
    details: objectDetails(resource, name),
  });

export const conflict = (resource: Named, name: string, why: string): Failure =>
  new Failure(`Operation cannot be fulfilled on ${resourceName(resource)} "${name}": ${why}`, {
    code: 409,
    reason: 'Conflict',
    details: objectDetails(resource, name),
  });

export function invalid({ group, kind }: Named, name: string, causes: readonly StatusCause[]): Failure {
  const lines = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))];
  const what = lines.length === 1 ? lines.join() : `[${lines.join(', ')}]`;
  const details = { ...(name === '' ? {} : { name }), ...grouped(group), kind, causes };
  const message = `${dotted(kind, group)} "${name}" is invalid: ${what}`;
  return new Failure(message, { code: 422, reason: 'Invalid', details });
}

export const badRequest = (message: string): Failure =>
  new Failure(message, { code: 400, reason: 'BadRequest' });

export const methodNotAllowed = (): Failure =>
  new Failure('the server does not allow this method on the requested resource', {
    code: 405,
    reason: 'MethodNotAllowed',
    details: {},
  });

export const invalidValue = (field: string, message: string, value: unknown = ''): StatusCause => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${JSON.stringify(value)}: ${message}`,
  field,
});
