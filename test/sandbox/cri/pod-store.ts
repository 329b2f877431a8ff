import { newId } from './facts.ts';
import type { SimContainer, SimSandbox, SimState } from './facts.ts';
import { writeLog } from './logs.ts';
import { notFound, refused } from './sim-error.ts';

export type NewSandbox = Omit<SimSandbox, 'id' | 'ready' | 'createdAtNs'> & {
  readonly createdAt?: Date | undefined;
};

export type NewContainer = Pick<
  SimContainer,
  | 'sandboxId'
  | 'name'
  | 'attempt'
  | 'image'
  | 'imageId'
  | 'labels'
  | 'annotations'
  | 'logPath'
  | 'command'
  | 'mountedImages'
> & { readonly createdAt?: Date | undefined };

const killed = 137;

/** Sandboxes and containers that behave like containerd's: removing a running one kills it. */
export class PodStore {
  readonly sandboxes = new Map<string, SimSandbox>();
  readonly containers = new Map<string, SimContainer>();
  #lastNs = 0n;

  sandbox(id: string): SimSandbox {
    const sandbox = this.sandboxes.get(id);
    if (sandbox === undefined) throw notFound('sandbox', id);
    return sandbox;
  }

  container(id: string): SimContainer {
    const container = this.containers.get(id);
    if (container === undefined) throw notFound('container', id);
    return container;
  }

  containersOf(sandboxId: string): readonly SimContainer[] {
    return [...this.containers.values()].filter((container) => container.sandboxId === sandboxId);
  }

  run({ createdAt, ...spec }: NewSandbox): SimSandbox {
    const taken = [...this.sandboxes.values()].find((other) => nameOf(other) === nameOf(spec));
    if (taken !== undefined) throw refused(`sandbox name "${nameOf(spec)}" is reserved for "${taken.id}"`);
    const sandbox = { ...spec, id: newId(), ready: true, createdAtNs: this.#stamp(createdAt) };
    this.sandboxes.set(sandbox.id, sandbox);
    return sandbox;
  }

  create({ createdAt, ...spec }: NewContainer): SimContainer {
    const sandbox = this.sandbox(spec.sandboxId);
    if (!sandbox.ready) throw refused(`sandbox container "${sandbox.id}" is not running`);
    const twin = this.containersOf(sandbox.id).find(
      ({ name, attempt }) => name === spec.name && attempt === spec.attempt,
    );
    if (twin !== undefined) throw refused(`container name "${spec.name}" is reserved for "${twin.id}"`);
    const container: SimContainer = {
      ...spec,
      id: newId(),
      sandboxId: sandbox.id,
      state: 'Created',
      createdAtNs: this.#stamp(createdAt),
      finishedAtNs: 0n,
      exitCode: 0,
    };
    this.containers.set(container.id, container);
    return container;
  }

  /** Runs a program: `echo TEXT`, `exit N`; anything else runs until it is stopped. */
  start(id: string): void {
    const container = this.container(id);
    if (container.state !== 'Created')
      throw refused(`container is in CONTAINER_${container.state.toUpperCase()} state`);
    container.state = 'Running';
    if (container.logPath !== '') writeLog(container.logPath, '', new Date());
    for (const step of (container.command.at(-1) ?? '').split(';').map((text) => text.trim())) {
      if (step.startsWith('echo ')) this.log(id, step.slice('echo '.length));
      const code = /^exit (\d+)$/.exec(step)?.[1];
      if (code !== undefined) this.exit(id, Number(code));
    }
  }

  log(id: string, text: string): void {
    const { logPath } = this.container(id);
    if (logPath !== '') writeLog(logPath, text, new Date());
  }

  exit(id: string, exitCode: number, at?: Date): void {
    const container = this.container(id);
    container.state = 'Exited';
    container.exitCode = exitCode;
    container.finishedAtNs = this.#stamp(at);
  }

  /** Stops a container that runs or may run; ignores others. */
  stop(id: string): void {
    const container = this.containers.get(id);
    if (container !== undefined && mayRun(container.state)) this.exit(container.id, killed);
  }

  remove(id: string): void {
    const container = this.containers.get(id);
    if (container === undefined) return;
    this.stop(container.id);
    this.containers.delete(container.id);
  }

  stopSandbox(id: string): void {
    const sandbox = this.sandboxes.get(id);
    if (sandbox === undefined) return;
    for (const container of this.containersOf(sandbox.id)) this.stop(container.id);
    sandbox.ready = false;
  }

  removeSandbox(id: string): void {
    const sandbox = this.sandboxes.get(id);
    if (sandbox === undefined) return;
    this.stopSandbox(sandbox.id);
    for (const container of this.containersOf(sandbox.id)) this.remove(container.id);
    this.sandboxes.delete(sandbox.id);
  }

  /** Unix nanoseconds that a double cannot represent; without a given time, each is later than the previous one. */
  #stamp(at?: Date): bigint {
    const ns = BigInt((at ?? new Date()).getTime()) * 1_000_000n + 1n;
    if (at !== undefined) return ns;
    this.#lastNs = ns > this.#lastNs ? ns : this.#lastNs + 1n;
    return this.#lastNs;
  }
}

const mayRun = (state: SimState): boolean => state === 'Running' || state === 'Unknown';

const nameOf = (sandbox: Pick<SimSandbox, 'name' | 'namespace' | 'uid' | 'attempt'>): string =>
  `${sandbox.name}_${sandbox.namespace}_${sandbox.uid}_${sandbox.attempt}`;
