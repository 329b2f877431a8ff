import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { Api, json, type Answer, type Sent } from './api.http.ts';
import type { ContractServer } from './server.ts';

export const merge = 'application/merge-patch+json';
export const strategic = 'application/strategic-merge-patch+json';
export const protobuf = 'application/vnd.kubernetes.protobuf';
export const metadataOnly = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
export const metadataListOnly = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
export const policies = '/apis/gc.dustpan.dev/v1alpha1/gcpolicies';

interface Meta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly continue?: string;
  readonly remainingItemCount?: number;
  readonly deletionTimestamp?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface Obj {
  readonly kind: string;
  readonly metadata: Meta;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
  readonly items?: readonly Obj[];
}

export interface Event {
  readonly type: string;
  readonly object: Obj & { readonly code?: number; readonly reason?: string; readonly message?: string };
}

export interface PodOptions {
  readonly metadata?: object;
  readonly spec?: object;
}

/** A namespace of its own on the server under test, and short words for what the rows do in it. */
export class Bed {
  readonly namespace = unique('api');
  readonly #api: Api;

  private constructor(api: Api) {
    this.#api = api;
  }

  static async on(server: ContractServer): Promise<Bed> {
    const bed = new Bed(await Api.of(server));
    await bed.#start();
    return bed;
  }

  /** A path below the namespace; the pods of it by default. */
  pods(name = ''): string {
    return `/api/v1/namespaces/${this.namespace}/pods${name === '' ? '' : `/${name}`}`;
  }

  leases(name = ''): string {
    const base = `/apis/coordination.k8s.io/v1/namespaces/${this.namespace}/leases`;
    return name === '' ? base : `${base}/${name}`;
  }

  events(name = ''): string {
    const base = `/apis/events.k8s.io/v1/namespaces/${this.namespace}/events`;
    return name === '' ? base : `${base}/${name}`;
  }

  send(method: string, path: string, sent: Sent = {}): Promise<Answer> {
    return this.#api.send(method, path, sent);
  }

  /** The status code and the JSON of the answer in one object, for `toMatchObject`. */
  async ask(
    method: string,
    path: string,
    sent: Sent = {},
  ): Promise<{ readonly status: number; readonly body: unknown }> {
    const answer = await this.send(method, path, sent);
    return { status: answer.status, body: json(answer) };
  }

  async get(path: string): Promise<Obj> {
    return this.#object('GET', path);
  }

  post(path: string, body: unknown): Promise<Obj> {
    return this.#object('POST', path, { body });
  }

  put(path: string, body: unknown): Promise<Obj> {
    return this.#object('PUT', path, { body });
  }

  patch(path: string, body: unknown, contentType = merge): Promise<Obj> {
    return this.#object('PATCH', path, { body, contentType });
  }

  delete(path: string, body: unknown = {}): Promise<Obj> {
    return this.#object('DELETE', path, { body });
  }

  createPod(name: string, options: PodOptions = {}): Promise<Obj> {
    return this.post(this.pods(), pod(name, options));
  }

  async exists(path: string): Promise<boolean> {
    return (await this.send('GET', path)).status === 200;
  }

  async names(path: string): Promise<readonly string[]> {
    return ((await this.get(path)).items ?? []).map(({ metadata }) => metadata.name);
  }

  /** The resourceVersion of now. */
  async now(): Promise<string> {
    return (await this.get(this.pods())).metadata.resourceVersion;
  }

  /** The events of a watch until there are `count` of them or the server ends it. */
  async watch(path: string, count = Infinity, accept?: string): Promise<readonly Event[]> {
    const response = await this.#api.open('GET', path, accept === undefined ? {} : { accept });
    let text = '';
    for await (const chunk of response) {
      text += String(chunk);
      if (text.split('\n').length > count) break;
    }
    response.destroy();
    return text
      .split('\n')
      .slice(0, -1)
      .slice(0, count)
      .map((line) => JSON.parse(line) as Event);
  }

  async #object(method: string, path: string, sent: Sent = {}): Promise<Obj> {
    const answer = await this.send(method, path, sent);
    if (answer.status < 300) return json(answer) as Obj;
    throw new Error(`${method} ${path}: ${answer.status} ${answer.bytes.toString()}`);
  }

  /** No controller manager may run: the service account that pods need is made here. */
  async #start(): Promise<void> {
    await this.post('/api/v1/namespaces', { metadata: { name: this.namespace } });
    const path = `/api/v1/namespaces/${this.namespace}/serviceaccounts`;
    await this.send('POST', path, { body: { metadata: { name: 'default' } } });
  }
}

export const unique = (prefix: string): string => `${prefix}-${randomUUID().slice(0, 8)}`;

/** A pod that nothing on the server adds volumes to. */
export function pod(name: string, { metadata = {}, spec = {} }: PodOptions = {}): object {
  const containers = [{ name: 'c', image: 'example.com/a' }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: { automountServiceAccountToken: false, containers, ...spec },
  };
}

export const onNode: PodOptions = { spec: { nodeName: 'no-such-node' } };

export function policy(name: string, spec: object = {}, rest: object = {}): object {
  return { apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'GCPolicy', metadata: { name }, spec, ...rest };
}

/** A refusal: the Status of that code and reason, in part. */
export function refusal(code: number, reason: string, rest: object = {}): object {
  return {
    status: code,
    body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason, code, ...rest },
  };
}

/** The details of a refusal that has a cause at this field, among others perhaps. */
export function causedBy(field: string, reason = /./): object {
  const cause: unknown = expect.objectContaining({ field, reason: expect.stringMatching(reason) as unknown });
  return { causes: expect.arrayContaining([cause]) as unknown };
}
