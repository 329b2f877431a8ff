import { dump, loadAll } from 'js-yaml';
import { kubectlYaml } from '../../src/snapshot/kubectl-yaml.ts';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly spec?: unknown;
}

interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
}

type StringMap = Readonly<Record<string, string>>;

/** Reads a stream of YAML documents like Kubernetes; throws on a number that YAML 1.1 and 1.2 read differently. */
export function readManifests(text: string): readonly Manifest[] {
  const octal = /^.*:\s+0\d+\s*$/m.exec(text);
  if (octal) throw new Error(`octal or decimal? ${octal[0].trim()}`);
  return loadAll(text, undefined, { schema: kubectlYaml }).filter((one) => one !== null) as Manifest[];
}

/** Writes a stream of YAML documents; quotes words that are booleans in YAML 1.1. */
export function writeManifests(manifests: readonly Manifest[], comment: readonly string[]): string {
  const documents = manifests.map((one) => dump(one, { lineWidth: -1, noRefs: true }));
  return `${comment.map((line) => `# ${line}\n`).join('')}${documents.join('---\n')}`;
}

/**
 * Converts the output of `helm template` for `kubectl apply`: the namespace, the CRDs, the rest in Helm's order, without hooks and without Helm's
 * labels and annotations.
 */
export function plainManifests(rendered: readonly Manifest[], namespace: string): readonly Manifest[] {
  const own = rendered
    .filter((one) => one.metadata.annotations?.['helm.sh/hook'] === undefined)
    .map(withoutHelm);
  const isCrd = ({ kind }: Manifest): boolean => kind === 'CustomResourceDefinition';
  return [namespaceOf(namespace), ...own.filter(isCrd), ...own.filter((one) => !isCrd(one))];
}

/** The agent mounts folders of its node and runs as root: privileged in the pod security standards. */
const namespaceOf = (name: string): Manifest => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } },
});

function withoutHelm(manifest: Manifest): Manifest {
  const { spec } = manifest;
  return {
    ...manifest,
    metadata: plainMetadata(manifest.metadata),
    ...(hasTemplate(spec) && {
      spec: { ...spec, template: { ...spec.template, metadata: plainMetadata(spec.template.metadata) } },
    }),
  };
}

interface WithTemplate {
  readonly template: { readonly metadata: Metadata };
}

const hasTemplate = (spec: unknown): spec is WithTemplate =>
  typeof spec === 'object' &&
  spec !== null &&
  'template' in spec &&
  typeof spec.template === 'object' &&
  spec.template !== null &&
  'metadata' in spec.template;

function plainMetadata({ labels, annotations, ...rest }: Metadata): Metadata {
  const kept = { labels: without(labels), annotations: without(annotations) };
  return {
    ...rest,
    ...(kept.labels && { labels: kept.labels }),
    ...(kept.annotations && { annotations: kept.annotations }),
  };
}

const isHelms = ([key, value]: readonly [string, string]): boolean =>
  /^(meta\.)?helm\.sh\//.test(key) || (key === 'app.kubernetes.io/managed-by' && value === 'Helm');

function without(map: StringMap = {}): StringMap | undefined {
  const left = Object.entries(map).filter((entry) => !isHelms(entry));
  return left.length === 0 ? undefined : Object.fromEntries(left);
}
