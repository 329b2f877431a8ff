import { join } from 'node:path';
import { readStatus, type NodeGCReport } from '../../api/gen/nodegcreport.gen.ts';
import { readKubeconfig } from '../../kube/auth/kubeconfig-file.ts';
import { kubeconfigFiles } from '../../kube/auth/load.ts';
import { reportsPath } from '../../kube/cache/resources.ts';
import { asObject, asObjects, asText, parseJson } from '../../kube/codec/json.ts';
import { acceptMetadataList } from '../../kube/http/media-types.ts';
import { usingCluster } from '../../process/connect.ts';
import { personConnection, withConnection, type PersonConnection } from '../../process/connection.ts';
import { LenientCommand, text } from '../../process/option.ts';
import type { System } from '../../process/system.ts';
import { imagesOf } from '../../snapshot/crictl.ts';
import { findFile, namesIn, readWhole } from '../../snapshot/files.ts';
import { only, type Completion, type Objects } from './completion.ts';

/** Nobody waits longer for names at the cursor. */
const deadlineMs = 1000;
/** A shell cannot show more. */
const limit = 500;
/** A report may have 50 KB. */
const maxReports = 20;

/** Completes the names of objects, from the kubeconfig, the API server or a snapshot; undefined if these do not respond in time. */
export async function named(
  { before, start, ...objects }: Objects,
  words: readonly string[],
  { env }: System,
): Promise<Completion | undefined> {
  try {
    const { namespace, snapshot, node, ...options } = connectionOptions(words);
    const kube = { ...personConnection(options, env, ''), requestTimeoutMs: deadlineMs };
    const where = { ...objects, namespace: objects.namespace ?? namespace, snapshot, node };
    const names = [...new Set(await namesOf(where, kube))].filter(
      (name) => objects.kind !== 'image' || plainName.test(name),
    );
    return only(
      names.slice(0, limit).map((name) => ({ word: before + name })),
      before + start,
    );
  } catch {
    return undefined;
  }
}

/** Of an image: the API server checks no name that a report has, and a shell may interpret it. */
const plainName = /^\w[\w@:./-]*$/;

/** The options before the cursor that select a cluster, a namespace, a node and a snapshot. */
function connectionOptions(words: readonly string[]) {
  const before = words.slice(1, -1);
  const isOpen = /^-[^=]*$/.test(before.at(-1) ?? '');
  return withConnection(new LenientCommand())
    .option('-n, --namespace <NAMESPACE>', '', text())
    .option('--node <NODE>', '', text())
    .option('--snapshot <DIRECTORY>', '', text())
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .exitOverride()
    .configureOutput({ outputError: () => undefined })
    .parse(isOpen ? before.slice(0, -1) : before, { from: 'user' })
    .opts();
}

interface Where extends Pick<Objects, 'kind' | 'namespace'> {
  readonly snapshot: string | undefined;
  readonly node: string | undefined;
}

async function namesOf(where: Where, kube: PersonConnection): Promise<readonly string[]> {
  const { kind, namespace } = where;
  switch (kind) {
    case 'context':
    case 'cluster':
    case 'user': {
      const { kubeconfig, kubeconfigVariable: kubeconfigEnv, homes } = kube;
      const config = await readKubeconfig(await kubeconfigFiles({ kubeconfig, kubeconfigEnv, homes }));
      return [...config[`${kind}s`].keys()];
    }
    case 'namespace':
    case 'node':
      return await listed(kube, () => `/api/v1/${kind}s`);
    case 'pod':
      return await listed(
        kube,
        (current) => `/api/v1/namespaces/${encodeURIComponent(namespace ?? current)}/pods`,
      );
    case 'image':
      return where.snapshot === undefined
        ? await reportedImages(kube, where.node)
        : await imagesIn(where.snapshot, where.node);
  }
}

const listed = (kube: PersonConnection, pathIn: (currentNamespace: string) => string) =>
  usingCluster(kube, async ({ transport, connection: { namespace = 'default' } }) => {
    const request = {
      method: 'GET',
      path: pathIn(namespace),
      query: { limit: String(limit) },
      retries: 0,
    } as const;
    const { body } = await transport.send(
      { ...request, accept: acceptMetadataList },
      AbortSignal.timeout(deadlineMs),
    );
    return asObjects(asObject(parseJson(body))['items']).map((object) =>
      asText(asObject(object['metadata'])['name']),
    );
  });

/** The largest images, and those that dustpan removed last. */
const reportedImages = (kube: PersonConnection, node: string | undefined): Promise<readonly string[]> =>
  usingCluster(kube, async ({ transport }) => {
    const query =
      node === undefined ? { limit: String(maxReports) } : { fieldSelector: `metadata.name=${node}` };
    const { body } = await transport.send(
      { method: 'GET', path: reportsPath, query, retries: 0 },
      AbortSignal.timeout(deadlineMs),
    );
    return asObjects<NodeGCReport>(asObject(parseJson(body))['items']).flatMap((report) => {
      const { usage, images } = readStatus(report.status);
      return [...(usage?.images ?? []), ...(images?.lastRemoved ?? [])].map(({ name, id }) => name ?? id);
    });
  });

async function imagesIn(snapshot: string, node: string | undefined): Promise<readonly string[]> {
  const nodes = join(snapshot, 'nodes');
  const names = node === undefined ? ((await namesIn(nodes)) ?? []) : [node];
  const found = await Promise.all(
    names.map(async (name) => {
      const folder = join(nodes, name);
      const file = findFile(folder, (await namesIn(folder)) ?? [], 'images');
      return file === undefined ? [] : imagesOf(await readWhole(file));
    }),
  );
  return found.flat().flatMap(({ id, tags, digests }) => tags[0] ?? digests[0] ?? id);
}
