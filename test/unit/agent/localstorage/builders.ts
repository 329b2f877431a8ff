import type {
  ContainerStorageUsage,
  DeclaredContainer,
  DeclaredEmptyDir,
  DeclaredInitContainer,
  PodStorageSpec,
  PodStorageUsage,
  StorageMeasurement,
  StorageLimit,
  StoragePod,
  StorageUsage,
} from '../../../../src/api/local-storage.ts';
import type { LocalStoragePolicy, Policy } from '../../../../src/api/policy/policy.ts';
import type { LocalStoragePlan } from '../../../../src/agent/localstorage/facts.ts';
import { planLocalStorage } from '../../../../src/agent/localstorage/plan.ts';
import { parseQuantity } from '../../../../src/runtime/text/quantity.ts';
import { defaultsOf, now } from '../../../builders.ts';
import { governedNode } from '../builders.ts';
import { anyAge, type MaxAges } from '../../../../src/agent/localstorage/pods.ts';

export const mib = 1024 ** 2;

/** A quantity in the form that the API server stores. */
const limit = (text: string): StorageLimit => ({ bytes: parseQuantity(text) ?? Number.NaN, text });

export const emptyDir = (name: string, sizeLimit?: string, isMemory = false): DeclaredEmptyDir => ({
  ...{ name, isMemory },
  limit: sizeLimit === undefined ? undefined : limit(sizeLimit),
});

export const container = (name: string, ephemeral?: string, request?: string): DeclaredContainer => ({
  name,
  limit: ephemeral === undefined ? undefined : limit(ephemeral),
  request: request === undefined ? undefined : limit(request),
});

export const init = (name: string, ephemeral?: string): DeclaredInitContainer => ({
  ...container(name, ephemeral),
  restartable: false,
});

export const sidecar = (name: string, ephemeral?: string): DeclaredInitContainer => ({
  ...container(name, ephemeral),
  restartable: true,
});

export const spec = (over: Partial<PodStorageSpec> = {}): PodStorageSpec => ({
  ...{ emptyDirs: [], containers: [container('main')], initContainers: [], overheadBytes: undefined },
  ...over,
});

/** A running pod with priority 0. */
export const storagePod = (
  name: string,
  storage: Partial<PodStorageSpec> = {},
  over: Partial<StoragePod> = {},
): StoragePod => ({
  ...{ uid: `uid-${name}`, name, namespace: 'web', phase: 'Running', evicted: false },
  ...{ deletionAtMs: undefined, configHash: undefined, images: [], workload: { kind: 'Pod', name } },
  ...{ priority: 0, isOptedOut: false, doNotDisrupt: undefined, storage: spec(storage) },
  ...over,
});

export interface Used {
  /** All in MiB. */
  readonly total?: number;
  readonly volumes?: Readonly<Record<string, number>>;
  readonly containers?: Readonly<Record<string, { readonly layer?: number; readonly logs?: number }>>;
  readonly atMs?: number;
}

function podUsage({ total, volumes = {}, containers = {}, atMs = now.getTime() }: Used): PodStorageUsage {
  const measured = (size: number): StorageMeasurement => ({ bytes: size * mib, atMs });
  const optional = (size: number | undefined) => (size === undefined ? undefined : measured(size));
  return {
    total: optional(total),
    volumes: new Map(Object.entries(volumes).map(([name, size]) => [name, measured(size)])),
    containers: Object.entries(containers).map(([name, { layer, logs }]): ContainerStorageUsage => ({
      name,
      layer: optional(layer),
      logs: optional(logs),
    })),
  };
}

/** By the names of the pods. */
export const usage = (
  pods: Readonly<Record<string, Used>>,
  over: Partial<StorageUsage> = {},
): StorageUsage => ({
  atMs: now.getTime(),
  dedicatedImageFs: false,
  splitContainerFs: false,
  signals: [],
  claims: [],
  impossible: [],
  pods: new Map(Object.entries(pods).map(([name, used]) => [`uid-${name}`, podUsage(used)])),
  ...over,
});

const defaults = defaultsOf('localStorageEviction');

export const storagePolicy = (
  over: Partial<Omit<LocalStoragePolicy, 'defaultLimits'>> & {
    readonly defaultLimits?: Partial<LocalStoragePolicy['defaultLimits']>;
  } = {},
): LocalStoragePolicy => ({
  ...defaults,
  ...over,
  defaultLimits: { ...defaults.defaultLimits, ...over.defaultLimits },
});

export const governedBy = (
  storage: LocalStoragePolicy | undefined,
  mode: Policy['mode'] = 'Enforce',
  respectDoNotDisrupt = true,
): ReturnType<typeof governedNode> =>
  governedNode({ localStorageEviction: storage, respectDoNotDisrupt }, { mode });

/** Every verdict in one line, evictions first. */
export const verdicts = ({ evictions, kept }: LocalStoragePlan): string[] => [
  ...evictions.map(({ verdict, target, reason }) =>
    [verdict, target.name, reason, target.excess.subject].filter((word) => word !== undefined).join(' '),
  ),
  ...kept.map(({ verdict, target, reason }) => `${verdict} ${target.name} ${reason}`),
];

/** One pod, `p`; state only what matters. */
export interface PlanRow {
  readonly storage?: Partial<PodStorageSpec>;
  readonly pod?: Partial<StoragePod>;
  /** undefined = the statistics do not have the pod. */
  readonly used?: Used | undefined;
  readonly stats?: Partial<StorageUsage>;
  readonly policy?: Parameters<typeof storagePolicy>[0];
  readonly respectDoNotDisrupt?: boolean;
  readonly maxAges?: MaxAges;
}

export const planOf = ({
  storage,
  pod,
  used,
  stats,
  policy,
  respectDoNotDisrupt,
  maxAges = anyAge,
}: PlanRow): LocalStoragePlan =>
  planLocalStorage(
    { pods: [storagePod('p', storage, pod)], usage: usage(used === undefined ? {} : { p: used }, stats) },
    { governance: governedBy(storagePolicy(policy), 'Enforce', respectDoNotDisrupt), now, maxAges },
  );

export const scratch = { emptyDirs: [emptyDir('tmp', '100Mi')] };
export const limited = { containers: [container('main', '100Mi')] };
export const overVolume = { volumes: { tmp: 130 }, total: 150 };
/** Both the pod and its one container. */
export const overPod = { total: 150, containers: { main: { layer: 50, logs: 100 } } };
