import type { StoragePod } from '../../../../src/api/local-storage.ts';

import {
  container,
  mib,
  storagePod,
  storagePolicy,
  usage,
  type Used,
} from '../../agent/localstorage/builders.ts';
import { reading } from '../../agent/nodepressure/builders.ts';
import { nodesBy, type Facts } from '../facts.ts';

/** Of a disk of 1000 MiB, of which 100 are available. */
export const diskReading = (over: Parameters<typeof reading>[0] = {}): ReturnType<typeof reading> =>
  reading({ available: 100 * mib, capacity: 1000 * mib, ...over });

/** The usage of a pod whose container has logs of this size in MiB. */
export const writes = (mebi: number): { readonly used: Used } => ({
  used: { containers: { main: { layer: 0, logs: mebi } } },
});

/** Node-1 with these pods, after all waiting periods; by default 100 MiB of 1000 are available. */
export function crowded(
  pods: Readonly<Record<string, { readonly used?: Used; readonly over?: Partial<StoragePod> }>>,
  ...signals: readonly ReturnType<typeof reading>[]
): Facts {
  const used = Object.entries(pods).flatMap(([name, one]) => (one.used ? [[name, one.used] as const] : []));
  return {
    part: {
      disk: undefined,
      pods: Object.entries(pods).map(([name, { over }]) => ({
        ...storagePod(name, { containers: [container('main', undefined, '10Mi')] }, over),
        resourceVersion: '1',
      })),
      usage: usage(Object.fromEntries(used), { signals: signals.length > 0 ? signals : [diskReading()] }),
    },
    namespaces: ['web'],
    assumeElapsed: true,
  };
}

type StorageRule = Parameters<typeof storagePolicy>[0];

/** The pod `a` of node-1 and its usage, under this rule for local storage. */
export const storing = (
  storage: Parameters<typeof storagePod>[1],
  used: Used | undefined,
  { rule, over }: { readonly rule?: StorageRule; readonly over?: Partial<StoragePod> } = {},
): Facts => ({
  ...nodesBy({ localStorageEviction: storagePolicy({ warnAtPercent: [], ...rule }) }),
  part: {
    pods: [{ ...storagePod('a', storage, over), resourceVersion: '1' }],
    usage: usage(used === undefined ? {} : { a: used }),
  },
  namespaces: ['web'],
});
