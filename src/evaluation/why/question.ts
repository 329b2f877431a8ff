import { parseImageReference } from '../../api/image-reference.ts';
import { notObjectName } from '../../process/option.ts';

export type Question =
  | {
      readonly kind: 'pod';
      /** undefined = the current one. */
      readonly namespace: string | undefined;
      readonly name: string;
    }
  | {
      /** `container`: a sandbox, a log or an orphaned resource as well; `node`: the text is its name. */
      readonly kind: 'image' | 'container' | 'sandbox' | 'node';
      /** As on the command line, without the kind. */
      readonly text: string;
      /** undefined = every node. */
      readonly node: string | undefined;
    };

export type NodeQuestion = Exclude<Question, { readonly kind: 'pod' }>;

interface Words {
  /** Such as `pod NAME`, or `pod/NAME`. */
  readonly text: string;
  readonly namespace: string | undefined;
  readonly node: string | undefined;
}

export const kinds = ['pod', 'image', 'container', 'sandbox', 'log', 'checkpoint', 'node'] as const;

/** With the kinds of `plan -o json` and the words before a name in the table of `plan`. */
const kindOf: ReadonlyMap<string, Question['kind'] | 'path' | 'checkpoint'> = new Map([
  ...(['pod', 'pods', 'po'] as const).map((word) => [word, 'pod'] as const),
  ...(['image', 'images'] as const).map((word) => [word, 'image'] as const),
  ...(['container', 'containers', 'log', 'logs', 'logfile', 'loglink', 'logdirectory'] as const).map(
    (word) => [word, 'container'] as const,
  ),
  ...(['sandbox', 'sandboxes', 'sandbox of'] as const).map((word) => [word, 'sandbox'] as const),
  ...(['pod directory', 'poddirectory', 'control group', 'podcgroup'] as const).map(
    (word) => [word, 'path'] as const,
  ),
  ...(['checkpoint', 'checkpoints'] as const).map((word) => [word, 'checkpoint'] as const),
  ...(['node', 'nodes', 'no'] as const).map((word) => [word, 'node'] as const),
]);

const owners = /^(deploy|sts|statefulset|ds|daemonset|rs|replicaset|job|cj|cronjob)/i;

const ownerText = (kind: string): string =>
  `dustpan removes pods, images and containers, not their owners (${kind}): 'dustpan plan --kept -l LABELS' explains the pods of one, 'dustpan why pod NAME' one pod, 'dustpan top workloads' shows what they use`;

const kindAndName = /^((?:pod directory|control group|sandbox of)(?= .)|[^ /]*)(?:[ /](.*))?$/is;

/** Parses `pod NAMESPACE/NAME`, `pod NAME`, `pod/NAME`, `image REFERENCE`, `container ID`, and whatever else `plan` prints after its kind. */
export function questionOf(words: Words): Parsed {
  const [, written = '', name] = kindAndName.exec(words.text) ?? [];
  const kind = kindOf.get(written.toLowerCase());
  if (kind === undefined && owners.test(written)) return { problem: ownerText(written) };
  if (kind === undefined)
    return { problem: `KIND must be ${kinds.join(', ')}, is ${JSON.stringify(written)}` };
  if (name === undefined) return { problem: `the name is missing: use ${written} NAME or ${written}/NAME` };
  if (kind === 'pod') return ofPod(name, words);
  if (words.namespace !== undefined) return { problem: '--namespace is for pods' };
  return ofNodeObject(kind, name, words.node);
}

function ofNodeObject(
  kind: Exclude<Question['kind'], 'pod'> | 'path' | 'checkpoint',
  name: string,
  node: string | undefined,
): Parsed {
  switch (kind) {
    case 'image':
      return imageQuestion(name, node);
    case 'node':
      return nodeQuestion(name, node);
    case 'path':
      return containerQuestion('container', name.startsWith('/') ? name : `${ellipsis}/${name}`, node);
    case 'checkpoint':
      return containerQuestion('container', checkpointPath(name), node);
    default:
      return containerQuestion(kind, name, node);
  }
}

/** In the table of `plan`, it replaces a part of a path. */
export const ellipsis = '…';

/** By its path or file name, or by the pod, with which the kubelet begins the name: `checkpoint-POD_NAMESPACE-CONTAINER-TIME.tar`. */
function checkpointPath(name: string): string {
  if (name.startsWith('/')) return name;
  if (name.startsWith('checkpoint-')) return `${ellipsis}/${name}`;
  const [pod, namespace = ''] = name.split('/').toReversed();
  return `${ellipsis}/checkpoint-${pod}_${namespace}${namespace === '' ? '' : '-'}${ellipsis}`;
}

const nodeQuestion = (name: string, node = name): Parsed =>
  node === name && notObjectName(name) === undefined
    ? { kind: 'node', text: name, node }
    : { problem: `node: ${JSON.stringify(name)} is not the name of a node, or not that of --node` };

function ofPod(text: string, { namespace, node }: Words): Parsed {
  if (node !== undefined) return { problem: '--node is for images and containers' };
  const question = podQuestion(text);
  if ('problem' in question || namespace === undefined) return question;
  if (question.namespace !== undefined && question.namespace !== namespace)
    return { problem: `pod: ${text} is not in namespace ${namespace}; leave one of the two out` };
  return { ...question, namespace };
}

type Parsed = Question | { readonly problem: string };

type PodQuestion = Extract<Question, { kind: 'pod' }> | { readonly problem: string };

function podQuestion(text: string): PodQuestion {
  const names = text.split('/');
  const [first = '', second] = names;
  if (names.length > 2 || !names.every((name) => podName.test(name)))
    return { problem: `pod: must be NAMESPACE/NAME, is ${JSON.stringify(text)}` };
  return second === undefined
    ? { kind: 'pod', namespace: undefined, name: first }
    : { kind: 'pod', namespace: first, name: second };
}

const podName = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
/** The prefix of container ids in Kubernetes, and of image ids in old runtimes, such as `containerd://`. */
const scheme = /^[a-z]+(-[a-z]+)*:\/\//;

function imageQuestion(given: string, node: string | undefined): Parsed {
  // The table of `plan` has the id after the name.
  const [, id = given] = /^\S+ ([0-9a-f]{12})$/.exec(given.trim()) ?? [];
  const text = id.trim().replace(scheme, '');
  return parseImageReference(text) === undefined
    ? { problem: `image: must be a reference or an id, is ${JSON.stringify(given)}` }
    : { kind: 'image', text, node };
}

/** A shorter id is more often a typing error. */
const minId = 4;

function containerQuestion(kind: 'container' | 'sandbox', given: string, node: string | undefined): Parsed {
  const text = given
    .trim()
    .replace(scheme, '')
    .replace(/(?<=.)\/+$/, '')
    .replaceAll(/\s+/g, ' ');
  return text.length < minId
    ? {
        problem: `${kind}: must be at least ${minId} characters of an id, NAMESPACE/POD and a name, or a path, is ${JSON.stringify(given)}`,
      }
    : { kind, text, node };
}
