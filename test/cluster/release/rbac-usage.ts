import type { AuditEvent } from '../servers/audit.ts';
import type { Rule } from '../servers/resources.ts';

/** A request to the API server, or to a server that it authorizes. */
export interface Access {
  readonly verb: string;
  /** `pods`, `gc.dustpan.dev/gcpolicies/status`, or the path of a URL that is no resource. */
  readonly what: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly isForbidden: boolean;
}

/** A rule, and where it holds. */
export interface Grant {
  readonly rule: Rule;
  /** Absent: everywhere. */
  readonly namespace?: string | undefined;
  /** Everybody has it, used or not. */
  readonly isEverybodys?: boolean;
}

/** The differences of rights and requests, each as `verb resource`; rights are exact when all are empty. */
interface RbacDifferences {
  readonly forbidden: readonly string[];
  /** Requested, but granted by none of these rules. */
  readonly missing: readonly string[];
  /** Granted, never requested, and not excused. */
  readonly unused: readonly string[];
  /** Excused for being unused, but used or not even granted. */
  readonly excusedInVain: readonly string[];
}

/** Compares a user's rights with its requests; `excused` explains unused rights by `verb resource`. */
export function rbacDifferences(
  grants: readonly Grant[],
  accesses: readonly Access[],
  excused: Readonly<Record<string, string>> = {},
): RbacDifferences {
  const rights = grants.flatMap(rightsOf);
  const unused = rights.filter(
    (right) => !right.isEverybodys && !accesses.some((access) => covers(right, access)),
  );
  const names = distinct(unused);
  return {
    forbidden: distinct(accesses.filter(({ isForbidden }) => isForbidden)),
    missing: distinct(accesses.filter((access) => !rights.some((right) => covers(right, access)))),
    unused: names.filter((name) => !(name in excused)),
    excusedInVain: Object.keys(excused).filter((name) => !names.includes(name)),
  };
}

/** One verb on one kind of thing. */
interface Right {
  readonly verb: string;
  readonly what: string;
  readonly namespace: string | undefined;
  readonly names: readonly string[] | undefined;
  readonly isEverybodys: boolean;
}

function rightsOf({ rule, namespace, isEverybodys = false }: Grant): readonly Right[] {
  const { apiGroups = [], resources = [], nonResourceURLs = [], resourceNames: names, verbs } = rule;
  const things = apiGroups.flatMap((group) => resources.map((resource) => nameOf(group, resource)));
  return [...things, ...nonResourceURLs].flatMap((what) =>
    verbs.map((verb) => ({ verb, what, namespace, names, isEverybodys })),
  );
}

function covers({ verb, what, namespace, names }: Right, access: Access): boolean {
  if (verb !== access.verb || !isSame(what, access.what)) return false;
  if (namespace !== undefined && namespace !== access.namespace) return false;
  // RBAC has no name for an object that is being created.
  return names === undefined || (verb !== 'create' && names.includes(access.name ?? ''));
}

/** URLs may end with a star. */
const isSame = (what: string, used: string): boolean =>
  what.startsWith('/') && what.endsWith('*') ? used.startsWith(what.slice(0, -1)) : what === used;

const nameOf = (group: string, resource: string): string =>
  group === '' ? resource : `${group}/${resource}`;

const distinct = (all: readonly { readonly verb: string; readonly what: string }[]): readonly string[] =>
  [...new Set(all.map(({ verb, what }) => `${verb} ${what}`))].sort();

/** A user's requests in an audit log: its own, and those that other servers had authorized. */
export function accessesOf(user: string, events: readonly AuditEvent[]): readonly Access[] {
  return events.flatMap((event) => [
    ...(event.user.username === user ? [accessOf(event)] : []),
    ...reviewedAccess(user, event),
  ]);
}

function accessOf({ verb, requestURI, objectRef, responseStatus }: AuditEvent): Access {
  const isForbidden = responseStatus?.code === 403;
  const { apiGroup = '', resource, subresource, namespace, name } = objectRef ?? {};
  if (resource === undefined) return { verb, what: new URL(requestURI, 'https://api').pathname, isForbidden };
  return { verb, what: nameOf(apiGroup, pathOf(resource, subresource)), namespace, name, isForbidden };
}

function reviewedAccess(user: string, { responseObject }: AuditEvent): readonly Access[] {
  const { spec, status } = responseObject ?? {};
  if (spec?.user !== user || spec.resourceAttributes === undefined) return [];
  const { verb = '', group = '', resource = '', subresource, namespace, name } = spec.resourceAttributes;
  const isForbidden = status?.allowed !== true;
  return [{ verb, what: nameOf(group, pathOf(resource, subresource)), namespace, name, isForbidden }];
}

const pathOf = (resource: string, subresource = ''): string =>
  subresource === '' ? resource : `${resource}/${subresource}`;
