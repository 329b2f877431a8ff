import { readKubeconfig } from '../../kube/auth/kubeconfig-file.ts';
import { kubeconfigFiles } from '../../kube/auth/load.ts';
import { asObject, asObjects, asText, parseJson } from '../../kube/codec/json.ts';
import { acceptMetadataList } from '../../kube/http/media-types.ts';
import { usingCluster } from '../../process/connect.ts';
import { personConnection, withConnection, type PersonConnection } from '../../process/connection.ts';
import { LenientCommand, text } from '../../process/option.ts';
import type { System } from '../../process/system.ts';
import { only, type Completion, type Objects } from './completion.ts';

/** Nobody waits longer for names at the cursor. */
const deadlineMs = 1000;
/** A shell cannot show more. */
const limit = '500';

/** Completes the names of objects, from the kubeconfig or the API server; undefined if these do not respond in time. */
export async function named(
  { before, start, ...objects }: Objects,
  words: readonly string[],
  { env }: System,
): Promise<Completion | undefined> {
  try {
    const { namespace, ...options } = connectionOptions(words);
    const kube = { ...personConnection(options, env, ''), requestTimeoutMs: deadlineMs };
    const names = await namesOf({ ...objects, namespace: objects.namespace ?? namespace }, kube);
    return only(
      names.map((name) => ({ word: before + name })),
      before + start,
    );
  } catch {
    return undefined;
  }
}

/** The options before the cursor that select a cluster and a namespace. */
function connectionOptions(words: readonly string[]) {
  const before = words.slice(1, -1);
  const isOpen = /^-[^=]*$/.test(before.at(-1) ?? '');
  return withConnection(new LenientCommand())
    .option('-n, --namespace <NAMESPACE>', '', text())
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .exitOverride()
    .configureOutput({ outputError: () => undefined })
    .parse(isOpen ? before.slice(0, -1) : before, { from: 'user' })
    .opts();
}

async function namesOf({ kind, namespace }: Pick<Objects, 'kind' | 'namespace'>, kube: PersonConnection) {
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
  }
}

const listed = (kube: PersonConnection, pathIn: (currentNamespace: string) => string) =>
  usingCluster(kube, async ({ transport, connection: { namespace = 'default' } }) => {
    const request = { method: 'GET', path: pathIn(namespace), query: { limit }, retries: 0 } as const;
    const { body } = await transport.send(
      { ...request, accept: acceptMetadataList },
      AbortSignal.timeout(deadlineMs),
    );
    return asObjects(asObject(parseJson(body))['items']).map((object) =>
      asText(asObject(object['metadata'])['name']),
    );
  });
