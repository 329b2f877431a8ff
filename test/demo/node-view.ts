import { join } from 'node:path';
import { planContainerGc } from '../../src/agent/containergc/plan.ts';
import { planImageGc } from '../../src/agent/imagegc/plan.ts';
import type { NodeGCReport, NodeGCReportStatus } from '../../src/api/gen/nodegcreport.gen.ts';
import { governNode, type NodeGovernance } from '../../src/api/policy/node-governance.ts';
import { PolicySet } from '../../src/api/policy/policy-set.ts';
import type { Target } from '../../src/gc/decision.ts';
import { criRuntime } from '../../src/cri/client.ts';
import { nodePodCodec } from '../../src/kube/cache/node-pods.ts';
import { imageDisk, statFsReader, type MountedImageDisk } from '../../src/node/disk/filesystem.ts';
import { LocalLogs } from '../../src/node/logs/logs.ts';
import { type LogRoots } from '../../src/node/logs/list.ts';
import { StateFile } from '../../src/node/disk/state-file.ts';
import { emptyState } from '../../src/node/disk/state-format.ts';
import type { Stage } from './stage.ts';

/** What is on the node now and what the agent's own plan functions say of it: reasons by id or path. */
export interface NodeLook {
  readonly due: ReadonlyMap<string, string>;
  readonly kept: ReadonlyMap<string, string>;
  readonly disk: MountedImageDisk;
  readonly imageCount: number;
  readonly imageBytes: number;
}

interface NodeViewDeps extends Pick<Stage, 'transport' | 'signal'> {
  readonly nodeName: string;
  readonly socket: string;
  readonly stateDirectory: string;
  readonly logs: LogRoots;
}

/** Looks at the node from outside, as the agent does, and changes nothing. */
export class NodeView {
  readonly #deps: NodeViewDeps;
  readonly #runtime: ReturnType<typeof criRuntime>;

  constructor(deps: NodeViewDeps) {
    this.#deps = deps;
    this.#runtime = criRuntime({ socket: deps.socket });
  }

  async look(): Promise<NodeLook> {
    const { signal, logs, stateDirectory } = this.#deps;
    const runtime = this.#runtime;
    const [listed, containers, sandboxes, disk, governance] = await Promise.all([
      runtime.listImages(signal),
      runtime.listContainers(signal),
      runtime.listSandboxes(signal),
      imageDisk({ runtime, statFs: statFsReader() }, signal),
      this.#policy(),
    ]);
    const logListing = await new LocalLogs(logs).list(signal);
    const pods = await this.#pods();
    const reading = await new StateFile(join(stateDirectory, 'state.json')).read(signal);
    const state = reading.kind === 'read' ? reading.state : emptyState;
    const now = new Date();
    const images = planImageGc({ ...state, listed, containers, pods, disk }, { governance, now });
    const rest = planContainerGc(
      { containers, sandboxes, pods, logs: logListing, sightings: new Map() },
      { governance, now, assumeGone: true },
    );
    const decisions = {
      due: [...told(images.removals), ...told(rest.removals)],
      kept: [...told(images.kept), ...told(rest.kept)],
    };
    const imageBytes = listed.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    return {
      ...{ due: new Map(decisions.due), kept: new Map(decisions.kept) },
      ...{ disk, imageCount: listed.length, imageBytes },
    };
  }

  /** What the agent itself reports; undefined = nothing yet. */
  async report(): Promise<NodeGCReportStatus | undefined> {
    const reports = await this.#list('/apis/gc.dustpan.dev/v1alpha1/nodegcreports');
    const own = (reports as NodeGCReport[]).find(({ metadata }) => metadata?.name === this.#deps.nodeName);
    return own?.status;
  }

  close(): void {
    this.#runtime.close();
  }

  async #policy(): Promise<NodeGovernance> {
    const set = new PolicySet();
    set.update((await this.#list('/apis/gc.dustpan.dev/v1alpha1/gcpolicies')) as Record<string, unknown>[]);
    return governNode(set.ranked, { labels: {} });
  }

  async #pods(): Promise<ReturnType<ReturnType<typeof nodePodCodec>['fromJson']>[]> {
    const query = { fieldSelector: `spec.nodeName=${this.#deps.nodeName}` };
    const codec = nodePodCodec();
    return (await this.#list('/api/v1/pods', query)).map((pod) => codec.fromJson(pod));
  }

  async #list(path: string, query: Readonly<Record<string, string>> = {}): Promise<unknown[]> {
    const { transport, signal } = this.#deps;
    const { body } = await transport.send({ method: 'GET', path, query }, signal);
    return (JSON.parse(body.toString()) as { items: unknown[] }).items;
  }
}

type Told = readonly (readonly [id: string, reason: string])[];

const told = (decisions: readonly { readonly target: NodeTarget; readonly reason: string }[]): Told =>
  decisions.map(({ target, reason }) => ['id' in target ? target.id : target.path, reason]);

type NodeTarget = Exclude<Target, { kind: 'Pod' }>;
