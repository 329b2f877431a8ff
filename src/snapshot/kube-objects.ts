import { nodePodCodec, type NodePodFacts } from '../kube/cache/node-pods.ts';
import type { Codec } from '../kube/codec/list.ts';
import { reportsWithUsage } from '../kube/cache/reports-with-usage.ts';
import type { Identified, PodFacts } from '../kube/cache/objects.ts';
import { jobCodec, namespaceCodec, nodeCodec, podCodec, replicaSetCodec } from '../kube/cache/resources.ts';
import { errorLine } from '../runtime/errors.ts';
import type { Field } from './field.ts';
import { readList, type OnProgress } from './files.ts';
import type { ByUid } from './plan-facts.ts';

/** A kind of object, and the codec that is also used for a live cluster. */
interface Kind<T extends Identified> {
  readonly kind: string;
  readonly codec: () => Codec<T>;
}

/** The kinds of a snapshot except pods, by the names of their files. */
export const kinds = {
  nodes: { kind: 'Node', codec: nodeCodec },
  namespaces: { kind: 'Namespace', codec: namespaceCodec },
  jobs: { kind: 'Job', codec: jobCodec },
  replicasets: { kind: 'ReplicaSet', codec: replicaSetCodec },
  nodegcreports: { kind: 'NodeGCReport', codec: () => reportsWithUsage().codec },
} as const;

export async function readObjects<T extends Identified>(
  file: string,
  { kind, codec }: Kind<T>,
  onProgress: OnProgress,
): Promise<ByUid<T>> {
  const objects = new Map<string, T>();
  const reader = codec();
  const take = (item: Field): void => {
    checkItem(item, kind);
    const facts = converted(item, (json) => reader.fromJson(json));
    if (objects.has(facts.uid)) throw item.at('metadata').at('uid').wrong(`${facts.uid} is given twice`);
    objects.set(facts.uid, facts);
  };
  checkList(await readList(file, take, onProgress), kind);
  return objects;
}

interface Pods {
  readonly all: ByUid<PodFacts>;
  readonly byNode: ReadonlyMap<string, readonly NodePodFacts[]>;
}

interface PodSelection {
  readonly labelKeys: ReadonlySet<string>;
  /** Nodes whose pods are needed as their agents see them. */
  readonly nodes: readonly string[];
}

/** The pods of a file: all of them as the controller reads them, and those of some nodes as their agents do. */
export async function readPods(
  file: string,
  { labelKeys, nodes }: PodSelection,
  onProgress: OnProgress,
): Promise<Pods> {
  const ofAgent = nodePodCodec();
  const byNode = new Map<string, NodePodFacts[]>(nodes.map((name) => [name, []]));
  const codec = podCodec(() => labelKeys);
  const fromJson = (json: unknown): PodFacts => {
    const pod = codec.fromJson(json);
    byNode.get(pod.nodeName ?? '')?.push(ofAgent.fromJson(json));
    return pod;
  };
  const all = await readObjects(file, { kind: 'Pod', codec: () => ({ ...codec, fromJson }) }, onProgress);
  return { all, byNode };
}

/** Checks the types of the fields that decisions need: a codec reads a field of the wrong type as absent. */
function checkItem(item: Field, kind: string): void {
  const own = item.at('kind');
  if (!own.isAbsent && own.text() !== kind) throw own.mustBe(kind);
  const meta = item.at('metadata');
  meta.at('name').name();
  meta.at('uid').name();
  for (const time of [meta.at('creationTimestamp'), meta.at('deletionTimestamp')])
    if (!time.isAbsent) time.timeMs();
  meta.at('labels').checkTextMap();
  if (kind === 'Pod') checkPod(item);
}

function checkPod(item: Field): void {
  item.at('metadata').at('namespace').name();
  item.at('metadata').maybeAt('annotations').checkTextMap();
  item.maybeAt('spec').maybeAt('nodeName').text('');
  const status = item.maybeAt('status');
  for (const field of ['phase', 'reason']) status.maybeAt(field).text('');
}

function converted<T>(item: Field, fromJson: (json: unknown) => T): T {
  try {
    return fromJson(item.object());
  } catch (err) {
    throw item.wrong(errorLine(err));
  }
}

function checkList(list: Field, kind: string): void {
  const own = list.at('kind');
  if (own.text() !== 'List' && own.text() !== `${kind}List`) throw own.mustBe(`List or ${kind}List`);
  list.at('items').list();
}
