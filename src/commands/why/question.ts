import { parseImageReference } from '../../api/image-reference.ts';

/** The object to explain. */
export type Question =
  | {
      readonly kind: 'pod';
      /** undefined = the current one. */
      readonly namespace: string | undefined;
      readonly name: string;
    }
  | {
      readonly kind: 'image' | 'container';
      /** As on the command line. */
      readonly text: string;
      /** undefined = every node. */
      readonly node: string | undefined;
    };

/** About an object on a node. */
export type NodeQuestion = Exclude<Question, { readonly kind: 'pod' }>;

/** The words of the command line. */
interface Words {
  /** `pod`, or `pod/NAME`. */
  readonly kind: string;
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  readonly node: string | undefined;
}

export const kinds = ['pod', 'image', 'container'] as const;

const kindOf: Readonly<Partial<Record<string, (typeof kinds)[number]>>> = {
  pod: 'pod',
  pods: 'pod',
  po: 'pod',
  image: 'image',
  images: 'image',
  container: 'container',
  containers: 'container',
};

/** Parses `pod NAMESPACE/NAME`, `pod NAME`, `pod/NAME`, `image REFERENCE`, `image/REFERENCE`, `container ID` and `container/ID`. */
export function questionOf(words: Words): Parsed {
  const slash = words.kind.indexOf('/');
  const isPair = words.name === undefined && slash > 0;
  const written = isPair ? words.kind.slice(0, slash) : words.kind;
  const name = isPair ? words.kind.slice(slash + 1) : words.name;
  const kind = kindOf[written];
  if (kind === undefined)
    return { problem: `KIND must be ${kinds.join(', ')}, is ${JSON.stringify(written)}` };
  if (name === undefined) return { problem: `the name is missing: use ${written} NAME or ${written}/NAME` };
  if (kind === 'pod') return ofPod(name, words);
  if (words.namespace !== undefined) return { problem: '--namespace is for pods' };
  return kind === 'image' ? imageQuestion(name, words.node) : containerQuestion(name, words.node);
}

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
  const text = given.trim().replace(scheme, '');
  return parseImageReference(text) === undefined
    ? { problem: `image: must be a reference or an id, is ${JSON.stringify(given)}` }
    : { kind: 'image', text, node };
}

/** A shorter id is more often a typing error. */
const minId = 4;

function containerQuestion(given: string, node: string | undefined): Parsed {
  const text = given
    .trim()
    .replace(scheme, '')
    .replace(/(?<=.)\/+$/, '');
  return text.length < minId || /\s/.test(text)
    ? {
        problem: `container: must be at least ${minId} characters of an id, or a path, is ${JSON.stringify(given)}`,
      }
    : { kind: 'container', text, node };
}
