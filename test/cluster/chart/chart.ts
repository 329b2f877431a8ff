import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { runCommand, type CommandResult } from '../servers/command.ts';
import { repositoryRoot } from '../repository.ts';
import type { Rule } from '../servers/resources.ts';

export const chartDirectory = join(repositoryRoot(), 'helm/dustpan');
export const policiesChart = `${chartDirectory}-policies`;

/** The files below ci/, and the example beside it: each is a way of installing that has to work. */
export const ciValues: readonly string[] = [
  ...readdirSync(join(chartDirectory, 'ci')),
  join('..', 'values-ha.yaml'),
];

const schema = JSON.parse(readFileSync(join(chartDirectory, 'values.schema.json'), 'utf8')) as {
  readonly properties: { readonly platform: { readonly enum: readonly string[] } };
};

/** The values of `platform`. */
export const platforms: readonly string[] = schema.properties.platform.enum;

export const ciFile = (name: string): string => join(chartDirectory, 'ci', name);

/** An object as the chart renders it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly rules?: readonly Rule[];
  readonly data?: Readonly<Record<string, string>>;
}

interface PodTemplate {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly serviceAccountName: string;
    readonly priorityClassName?: string;
    readonly containers: readonly [Container];
    readonly securityContext: unknown;
    readonly volumes: readonly { readonly name: string; readonly hostPath?: { readonly path: string } }[];
  };
}

interface Container {
  readonly image: string;
  readonly command?: readonly string[];
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly resources: { readonly limits: { readonly memory: string } };
  readonly securityContext: { readonly capabilities: unknown; readonly seLinuxOptions?: unknown };
  readonly volumeMounts?: readonly { readonly name: string; readonly readOnly?: boolean }[];
}

/** A Deployment or DaemonSet. */
interface Workload extends Manifest {
  readonly spec: {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly template: PodTemplate;
  };
}

export interface RenderOptions {
  /** Names below ci/, before `set`. */
  readonly values?: readonly string[];
  /** Values that override the files, as for `--set-json`. */
  readonly set?: Readonly<Record<string, unknown>>;
  readonly release?: string;
  readonly namespace?: string;
  /** 1.36.3 by default. */
  readonly kubeVersion?: string;
  readonly apiVersions?: readonly string[];
  /** The folder of the chart; not given: that of the checkout. */
  readonly chart?: string;
}

/** As `kubeVersion`: helm's built-in version. */
export const builtInVersion = '';

/** `helm template`, as text; without a cluster. */
export async function template(options: RenderOptions = {}): Promise<CommandResult> {
  const { release = 'dustpan', namespace = 'dustpan-system', kubeVersion = '1.36.3' } = options;
  const { chart = chartDirectory } = options;
  return await helm([
    'template',
    release,
    chart,
    '--namespace',
    namespace,
    ...(kubeVersion === builtInVersion ? [] : ['--kube-version', kubeVersion]),
    ...valueArgs(options),
  ]);
}

/** The arguments by which helm gets values. */
function valueArgs({ values = [], set = {}, apiVersions = [] }: RenderOptions): string[] {
  return [
    ...values.flatMap((name) => ['--values', ciFile(name)]),
    ...Object.entries(set).flatMap(([path, value]) => ['--set-json', `${path}=${JSON.stringify(value)}`]),
    ...apiVersions.flatMap((version) => ['--api-versions', version]),
  ];
}

/** Renders the chart; throws helm's message when it fails. */
export async function render(options: RenderOptions = {}): Promise<readonly Manifest[]> {
  const { code, stdout, stderr } = await template(options);
  if (code !== 0) throw new Error(stderr);
  return manifestsOf(stdout);
}

/** The notes of the chart: `helm template` prints none, so an extra object renders them. */
export async function renderNotes(set: RenderOptions['set'] = {}): Promise<string> {
  const notes =
    '{kind: Notes, metadata: {name: notes-text}, data: {text: {{ include (print $.Template.BasePath "/NOTES.txt") $ | toJson }}}}';
  const manifests = await render({ set: { extraObjects: [notes], ...set } });
  return only(manifests, 'Notes').data?.['text'] ?? '';
}

/** A stream of YAML documents. */
export function manifestsOf(text: string): readonly Manifest[] {
  return loadAll(text).filter((one): one is Manifest => typeof one === 'object' && one !== null);
}

/** Runs helm outside of any cluster. */
export async function helm(args: readonly string[]): Promise<CommandResult> {
  const { DUSTPAN_BED_BIN: bin = '', TMPDIR: dir = '' } = process.env;
  const env = { ...process.env, HELM_CACHE_HOME: dir, HELM_CONFIG_HOME: dir, HELM_DATA_HOME: dir };
  return await runCommand([join(bin, 'helm'), ...args], { env });
}

/** The one object of a kind, and of a name's ending where there are several; throws when there is none or more. */
export function only(manifests: readonly Manifest[], kind: string, ending = ''): Manifest {
  const found = manifests.filter((one) => one.kind === kind && one.metadata.name.endsWith(ending));
  const [first] = found;
  if (first === undefined || found.length > 1) throw new Error(`${found.length} of ${kind} …${ending}`);
  return first;
}

/** The Deployment or the DaemonSet. */
export function workload(manifests: readonly Manifest[], kind: 'Deployment' | 'DaemonSet'): Workload {
  return only(manifests, kind) as Workload;
}

/** Rules as one line each: `pods get,list`, sorted. */
export function ruleLines({ rules = [] }: Manifest): readonly string[] {
  return rules
    .flatMap(({ resources = [], resourceNames, nonResourceURLs = [], verbs }) => {
      const which = resourceNames === undefined ? '' : `(${resourceNames.join()})`;
      return [...resources, ...nonResourceURLs].map((what) => `${what}${which} ${verbs.join()}`);
    })
    .sort();
}

export const crdFiles: readonly string[] = readdirSync(join(repositoryRoot(), 'crds'));

export const crdText = (file: string): string => readFileSync(join(repositoryRoot(), 'crds', file), 'utf8');
