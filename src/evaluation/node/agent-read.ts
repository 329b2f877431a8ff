import type { ClusterConnection } from '../../kube/auth/credentials.ts';
import { execInPod } from '../../kube/exec/exec.ts';
import { ApiError, type KubeTransport } from '../../kube/http/transport.ts';
import { errorLine } from '../../runtime/errors.ts';
import { Field } from '../../snapshot/field.ts';
import { nodeFolderIn, type NodeFolder } from '../../snapshot/node-folder.ts';
import type { NodePart, UnreadNode } from '../../snapshot/plan-facts.ts';
import { withMissingRight } from '../../process/denied.ts';
import { podsOnNode } from './node-runtime.ts';
import { userAgent } from '../../runtime/version.ts';
import { findAgents, type FoundAgent } from './agent-find.ts';
import { agentContainer, snapshotCommand, type AgentPod } from './agent-pod.ts';
import { byText } from '../../runtime/text/by-text.ts';

interface AgentReading {
  readonly transport: KubeTransport;
  readonly connection: ClusterConnection;
  readonly except: string | undefined;
  /** The longest silence of an agent's pod. */
  readonly silenceMs: number;
  readonly needsUsage: boolean;
  readonly onProgress: (nodes: number) => void;
}

interface Read {
  readonly parts: readonly NodePart[];
  readonly unread: readonly UnreadNode[];
  /** One sentence each. */
  readonly notes: readonly string[];
}

/** The API server and a proxy carry all of them. */
const atOnce = 4;

/** Reads nodes through the pods of their agents; a node that cannot be read is reported with its problem. */
export async function readThroughAgents(
  nodes: readonly string[] | 'all',
  reading: AgentReading,
  signal: AbortSignal,
): Promise<Read> {
  const agents = (await agentsOf(nodes, reading.transport, signal)).filter(
    ({ node }) => node !== reading.except,
  );
  const names = nodes === 'all' ? agents.map(({ node }) => node).toSorted() : [...new Set(nodes)];
  const byNode = new Map(agents.map((agent) => [agent.node, agent]));
  const reader = new Reader(reading, signal);
  const [first, ...others] = names;
  // Alone: afterwards it is known whether a right is missing.
  if (first !== undefined) await reader.read(first, byNode.get(first));
  const queue = others.values();
  const worker = async (): Promise<void> => {
    for (const name of queue) await reader.read(name, byNode.get(name));
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
    byText(a.name, b.name);
  const { parts, unread, notes } = reader;
  return { parts: parts.toSorted(byName), unread: unread.toSorted(byName), notes: notes.toSorted() };
}

async function agentsOf(
  nodes: readonly string[] | 'all',
  transport: KubeTransport,
  signal: AbortSignal,
): Promise<readonly FoundAgent[]> {
  if (nodes === 'all') return findAgents(transport, undefined, signal);
  const found: FoundAgent[] = [];
  for (const node of new Set(nodes)) found.push(...(await findAgents(transport, node, signal)));
  return found;
}

/** The way out: the options that name other nodes lead here again. */
const noAgent =
  'no agent of dustpan runs there; dustpan plan and why need none if they run on the node, with --cri-socket, --node-name and --state-dir';

class Reader implements Read {
  readonly parts: NodePart[] = [];
  readonly unread: UnreadNode[] = [];
  readonly notes: string[] = [];
  readonly #reading: AgentReading;
  readonly #signal: AbortSignal;
  /** A missing right is missing for every pod of the namespace. */
  readonly #denied = new Map<string, string>();

  constructor(reading: AgentReading, signal: AbortSignal) {
    this.#reading = reading;
    this.#signal = signal;
  }

  async read(name: string, found: FoundAgent | undefined): Promise<void> {
    const problem = found === undefined ? noAgent : await this.#problemOf(found);
    if (problem !== undefined) this.unread.push({ name, problem });
    this.#reading.onProgress(this.parts.length);
  }

  async #problemOf(found: FoundAgent): Promise<string | undefined> {
    if ('problem' in found) return found.problem;
    const { agent } = found;
    const denied = this.#denied.get(agent.namespace);
    if (denied !== undefined) return denied;
    try {
      const { part, notes } = await this.#folderOf(agent);
      this.parts.push(part);
      this.notes.push(...notes);
      return undefined;
    } catch (err) {
      this.#signal.throwIfAborted();
      const problem = withMissingRight(errorLine(err));
      if (err instanceof ApiError && err.status === 403) this.#denied.set(agent.namespace, problem);
      return problem;
    }
  }

  async #folderOf(agent: AgentPod): Promise<NodeFolder> {
    const { connection, silenceMs, transport, needsUsage } = this.#reading;
    const { node, namespace, name: pod } = agent;
    const target = { namespace, pod, container: agentContainer, command: snapshotCommand(agent) };
    const options = { connection, silenceMs, userAgent: userAgent() };
    const { exitCode, stdout, stderr } = await execInPod(target, options, this.#signal);
    if (exitCode !== 0) throw new Error(failureText(agent, exitCode, stderr));
    // After the node: a pod that is created meanwhile is then known, though its containers are not.
    const pods = await podsOnNode(node, transport, this.#signal);
    const { part, notes } = nodeFolderIn(contentOf(agent, stdout), { name: node, pods, needsUsage });
    return { part, notes: [...notes, ...warningsIn(stderr)] };
  }
}

function failureText({ namespace, name }: AgentPod, exitCode: number, stderr: string): string {
  const pod = `the agent's pod ${namespace}/${name}`;
  if (/unknown option|unknown command|too many arguments/.test(stderr))
    return `${pod} has a version of dustpan without snapshot --only-node; upgrade it to the version of this command`;
  return `dustpan snapshot in ${pod} exited with ${exitCode}: ${stderr.split('\n').at(-1) ?? ''}`;
}

function contentOf({ namespace, name }: AgentPod, stdout: Buffer): Field {
  try {
    return new Field(`pod ${namespace}/${name}`, '', JSON.parse(stdout.toString('utf8')));
  } catch (cause) {
    throw new Error(`the agent's pod ${namespace}/${name} did not write JSON`, { cause });
  }
}

const warning = /^dustpan: warning: (.+)$/gm;

const warningsIn = (stderr: string): readonly string[] =>
  [...stderr.matchAll(warning)].map(([, text = '']) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`);
