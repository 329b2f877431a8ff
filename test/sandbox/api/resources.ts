import { loadAll } from 'js-yaml';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure, PageNotFound, type StatusCause } from './failure.ts';
import { asObject, isObject, type JsonObject, type KubeObject } from './format/json.ts';
import { binaryKinds } from './format/protobuf-kinds.ts';
import type { MessageFields } from './format/protobuf.ts';
import { plainRules, rulesOf, type Rules } from './rules.ts';
import { schemaChecker } from './schema.ts';
import type { PrinterColumn } from './format/table.ts';

export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly subresources: readonly string[];
  /** Custom resources have no protobuf form and keep apiVersion and kind in lists. */
  readonly custom: boolean;
  readonly rules: Rules;
  /** The fields of the protobuf form; undefined = only JSON. */
  readonly binary: MessageFields | undefined;
  /** The columns of its tables; empty = it has no tables. */
  readonly columns: readonly PrinterColumn[];
}

export const apiVersionOf = ({ group, version }: Pick<Resource, 'group' | 'version'>): string =>
  group === '' ? version : `${group}/${version}`;

const kinds: readonly (readonly [
  apiVersion: string,
  kind: string,
  plural: string,
  subresources?: readonly string[],
  shortNames?: readonly string[],
])[] = [
  ['v1', 'Pod', 'pods', ['status', 'eviction'], ['po']],
  ['v1', 'Node', 'nodes', ['status'], ['no']],
  ['v1', 'Namespace', 'namespaces', ['status'], ['ns']],
  ['v1', 'ServiceAccount', 'serviceaccounts'],
  ['v1', 'ConfigMap', 'configmaps'],
  ['batch/v1', 'Job', 'jobs', ['status']],
  ['batch/v1', 'CronJob', 'cronjobs', ['status']],
  ['apps/v1', 'ReplicaSet', 'replicasets', ['status']],
  ['apps/v1', 'Deployment', 'deployments', ['status']],
  ['apps/v1', 'StatefulSet', 'statefulsets', ['status']],
  ['apps/v1', 'DaemonSet', 'daemonsets', ['status']],
  ['coordination.k8s.io/v1', 'Lease', 'leases'],
  ['events.k8s.io/v1', 'Event', 'events'],
  ['policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets', ['status']],
  ['rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', 'clusterrolebindings'],
  ['apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'customresourcedefinitions', ['status']],
];

const builtIn: readonly Resource[] = kinds.map((row) => {
  const [apiVersion, kind, plural, subresources = [], shortNames = []] = row;
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  const namespaced = !['Node', 'Namespace', 'ClusterRoleBinding', 'CustomResourceDefinition'].includes(kind);
  const rules = rulesOf[kind] ?? plainRules;
  const names = { group, version, plural, kind, shortNames };
  const binary = binaryKinds[kind];
  return { ...names, namespaced, subresources, custom: false, rules, binary, columns: [] };
});

export class Registry {
  #resources = builtIn;

  get resources(): readonly Resource[] {
    return this.#resources;
  }

  /** Installs the CustomResourceDefinitions of a directory. */
  async install(directory: string): Promise<void> {
    const files = (await readdir(directory)).filter((name) => name.endsWith('.yaml'));
    const texts = await Promise.all(files.map((name) => readFile(join(directory, name), 'utf8')));
    const crds = texts.flatMap((text) => loadAll(text)).filter(isObject);
    const custom = crds.filter(({ kind }) => kind === 'CustomResourceDefinition').map(customResource);
    this.#resources = [...builtIn, ...custom];
  }

  /** Throws a plain 404 page if no API is installed, like the real server. */
  resource(apiVersion: string, plural: string): Resource {
    const found = this.#resources.find((one) => one.plural === plural && apiVersionOf(one) === apiVersion);
    if (found === undefined) throw new PageNotFound();
    return found;
  }

  byKind(kind: string): Resource {
    const found = this.#resources.find((resource) => resource.kind === kind);
    if (found === undefined) throw new Failure(`no resource of kind ${kind}`, { code: 404 });
    return found;
  }
}

interface CrdSpec {
  readonly group: string;
  readonly scope: string;
  readonly names: {
    readonly plural: string;
    readonly kind: string;
    readonly shortNames?: readonly string[];
  };
  readonly versions: readonly {
    readonly name: string;
    readonly subresources?: unknown;
    readonly additionalPrinterColumns?: readonly PrinterColumn[];
  }[];
}

function customResource(crd: JsonObject): Resource {
  const { group, scope, names, versions } = crd['spec'] as CrdSpec;
  const [version] = versions;
  if (version === undefined) throw new Error('a CustomResourceDefinition without a version');
  return {
    group,
    version: version.name,
    plural: names.plural,
    kind: names.kind,
    shortNames: names.shortNames ?? [],
    namespaced: scope === 'Namespaced',
    subresources: isObject(version.subresources) && 'status' in version.subresources ? ['status'] : [],
    custom: true,
    rules: customRules(crd),
    binary: undefined,
    columns: version.additionalPrinterColumns ?? [],
  };
}

/** Prunes, defaults and validates custom resources by the schema of their definition. */
function customRules(crd: JsonObject): Rules {
  const check = schemaChecker(crd);
  return {
    ...plainRules,
    admit: (given) => {
      const { object, problems } = check(given);
      const { apiVersion, kind, metadata }: KubeObject = given;
      return { object: { ...asObject(object), apiVersion, kind, metadata }, causes: problems.map(causeOf) };
    },
  };
}

/** The message differs from the real server's; the field is the same. */
function causeOf(problem: string): StatusCause {
  const at = problem.indexOf(': ');
  return { reason: 'FieldValueInvalid', message: problem.slice(at + 2), field: problem.slice(0, at) };
}
