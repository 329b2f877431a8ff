import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PlanDocument } from '../../../src/evaluation/plan/document.ts';
import type { Cluster } from '../servers/cluster.ts';
import { runDustpan } from '../servers/command.ts';

interface Setting {
  readonly cluster: Pick<Cluster, 'dir'>;
  /** The options by which the commands find the cluster, or its node. */
  readonly source: readonly string[];
  readonly planArgs: readonly string[];
}

/** More nodes are read in another way, and only a cluster has a controller or none. */
const ownNotes = / To list the objects of .*|^The cluster has no Deployment of .*/;

const comparable = (plan: PlanDocument): PlanDocument => ({
  ...plan,
  unknown: plan.unknown.map((one) => ({ ...one, remedy: null })),
  notes: plan.notes.map((note) => note.replace(ownNotes, '')).filter((note) => note !== ''),
});

/** Plans by the built command, live and of snapshots of a cluster that does not change. */
export class Plans {
  readonly directory: string;
  readonly #setting: Setting;

  constructor(setting: Setting) {
    this.#setting = setting;
    this.directory = join(setting.cluster.dir, 'snapshot');
  }

  async live(...args: readonly string[]): Promise<PlanDocument> {
    const { source, planArgs } = this.#setting;
    const text = await runDustpan('plan', ...source, ...planArgs, ...args);
    return comparable(JSON.parse(text) as PlanDocument);
  }

  /** Writes the snapshot, replacing the last one. */
  async snapshot(): Promise<void> {
    await runDustpan('snapshot', this.directory, '--force', ...this.#setting.source);
  }

  /** The plan of the snapshot. */
  async offline(...args: readonly string[]): Promise<PlanDocument> {
    const { planArgs } = this.#setting;
    const text = await runDustpan('plan', `--snapshot=${this.directory}`, ...planArgs, ...args);
    return comparable(JSON.parse(text) as PlanDocument);
  }

  /** The plan of the snapshot with one edited file. */
  async edited(file: string, edit: (content: Edited) => void): Promise<PlanDocument> {
    const path = join(this.directory, file);
    const text = readFileSync(path, 'utf8');
    const content = JSON.parse(text) as Edited;
    edit(content);
    writeFileSync(path, JSON.stringify(content));
    try {
      return await this.offline();
    } finally {
      writeFileSync(path, text);
    }
  }

  /** The text of all files of the snapshot. */
  text(): string {
    const files = readdirSync(this.directory, { recursive: true, encoding: 'utf8' });
    return files
      .filter((name) => name.endsWith('.json'))
      .map((name) => readFileSync(join(this.directory, name), 'utf8'))
      .join('\n');
  }
}

/** A file of a snapshot, as JSON. */
interface Edited {
  items: Record<string, unknown>[];
  containers: Record<string, unknown>[];
  storedInvalid?: unknown;
  directories: unknown[];
}

/** `Pod Delete Terminated`, each once, sorted. */
export const verdictsOf = ({ decisions }: PlanDocument): readonly string[] =>
  [...new Set(decisions.map(({ object, verdict, reason }) => `${object.kind} ${verdict} ${reason}`))].sort();
