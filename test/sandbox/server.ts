import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { ContractServer } from '../contract/server.ts';
import { loadCrds } from './crds.ts';
import { DirectStore } from './direct-store.ts';
import type { Faults } from './faults.ts';
import { Front } from './front.ts';
import { kubeconfigFolder, type KubeconfigFolder } from './kubeconfig.ts';
import { Registry } from './registry.ts';
import type { SandboxRequest } from './request-log.ts';
import { Store } from './store.ts';
import type { SandboxUser } from './users.ts';
import type { World } from './world.ts';

export interface SandboxOptions {
  /** False: the server starts without dustpan's CRDs, until `installCrds`. */
  readonly crds?: boolean;
  /** Beside the administrator. */
  readonly users?: readonly SandboxUser[];
  /** How often an idle watch gets a bookmark; default 5 000. */
  readonly bookmarkIntervalMs?: number;
  /** Changes of each resource that are remembered for watches and lists of earlier revisions; default 10 000. */
  readonly historyLimit?: number;
  /** For the times the server writes. */
  readonly now?: () => Date;
  /** Where the CRDs are; default `crds` of the working directory, which for every script of the package is the repository. */
  readonly crdDirectory?: string;
}

/** The in-process API server. */
export interface Sandbox extends ContractServer {
  /** The objects, without HTTP. */
  readonly store: DirectStore;
  /** The latest requests, oldest first. */
  readonly requests: readonly SandboxRequest[];
  readonly faults: Faults;
  installCrds(): Promise<void>;
  /** Kubeconfig file of a user by name. */
  kubeconfigOf(user: string): string;
}

const administrator = 'kubernetes-admin';
const namespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const defaultHistoryLimit = 10_000;
const defaultBookmarkIntervalMs = 5000;

/** Starts an API server in this process, on a free port of the loopback device. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const world = newWorld(options);
  const token = randomUUID();
  const admin: SandboxUser = { name: administrator, token, allow: () => true };
  const users = [admin, ...(options.users ?? [])];
  const front = new Front(world, {
    users,
    bookmarkIntervalMs: options.bookmarkIntervalMs ?? defaultBookmarkIntervalMs,
  });
  const crdDirectory = options.crdDirectory ?? join(process.cwd(), 'crds');
  const installCrds = async (): Promise<void> => {
    world.registry.install(await loadCrds(crdDirectory));
  };
  if (options.crds !== false) await installCrds();
  const server = await listen(front);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const kubeconfigs = await kubeconfigFolder(url, users);
  return {
    url,
    caFile: undefined,
    token,
    kubeconfigFile: kubeconfigs.fileOf(administrator),
    store: seeded(world),
    get requests() {
      return front.log.entries;
    },
    faults: faultsOf(front),
    installCrds,
    kubeconfigOf: (user) => kubeconfigs.fileOf(user),
    stop: () => stop(server, front, kubeconfigs),
  };
}

function newWorld({ historyLimit = defaultHistoryLimit, now = () => new Date() }: SandboxOptions): World {
  const registry = new Registry();
  const store = new Store(historyLimit);
  for (const resource of registry.resources) store.collection(resource);
  return { registry, store, now };
}

function seeded(world: World): DirectStore {
  const store = new DirectStore(world);
  for (const name of namespaces) {
    const metadata = { name, labels: { 'kubernetes.io/metadata.name': name } };
    store.apply({ apiVersion: 'v1', kind: 'Namespace', metadata, status: { phase: 'Active' } });
  }
  return store;
}

/** Idle connections outlive any pause of a client, so that a keep-alive client never meets a closing one. */
const keepAliveMs = 120_000;

async function listen(front: Front): Promise<Server> {
  const server = createServer({ keepAliveTimeout: keepAliveMs, requestTimeout: 0 }, (request, response) => {
    void front.handle(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function faultsOf(front: Front): Faults {
  return {
    next: (matches, fault, times) => {
      front.plan.next(matches, fault, times);
    },
    clear: () => {
      front.plan.clear();
    },
    get pending() {
      return front.plan.pending;
    },
    closeWatches: (matches) => {
      front.closeWatches(matches);
    },
    expireWatches: () => {
      front.expireWatches();
    },
  };
}

async function stop(server: Server, front: Front, kubeconfigs: KubeconfigFolder): Promise<void> {
  front.closeWatches();
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
  await kubeconfigs.remove();
}
