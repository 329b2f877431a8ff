/** One object as the API server stores it, under its key. */
export interface EtcdEntry {
  readonly key: string;
  readonly value: Buffer;
}

/** etcd over its JSON gateway: tests write states that the API server would reject. */
export interface EtcdClient {
  /** Writes one by one, as an API server does. */
  put(entries: Iterable<EtcdEntry>): Promise<void>;
  /**
   * Writes in big transactions, several under way at once.
   * All objects of a transaction share a resourceVersion, which no API server would make: who lists while it digests one
   * and watches from there on misses the rest. So let it settle before any read.
   */
  putFast(entries: Iterable<EtcdEntry>): Promise<void>;
  get(key: string): Promise<Buffer | undefined>;
  count(prefix: string): Promise<number>;
  remove(prefix: string): Promise<number>;
}

/** etcd refuses transactions of more operations. */
const maxOperations = 128;
/** And requests over 1.5 MiB; base64 does not count. */
const maxBytes = 1_000_000;
const inFlight = 4;

/** A client of the etcd at this URL. */
export function etcdClient(url: string): EtcdClient {
  return {
    put: async (entries) => {
      for (const { key, value } of entries)
        await call(url, 'kv/put', { key: base64(key), value: value.toString('base64') });
    },
    putFast: (entries) => putAll(url, entries),
    get: async (key) => {
      const [found] = (await call<RangeAnswer>(url, 'kv/range', { key: base64(key) })).kvs ?? [];
      return found === undefined ? undefined : Buffer.from(found.value, 'base64');
    },
    count: async (prefix) => {
      const response = await call<RangeAnswer>(url, 'kv/range', { ...rangeOf(prefix), count_only: true });
      return Number(response.count ?? 0);
    },
    remove: async (prefix) => {
      const response = await call<{ readonly deleted?: string }>(url, 'kv/deleterange', rangeOf(prefix));
      return Number(response.deleted ?? 0);
    },
  };
}

interface RangeAnswer {
  readonly count?: string;
  readonly kvs?: readonly { readonly value: string }[];
}

async function putAll(url: string, entries: Iterable<EtcdEntry>): Promise<void> {
  const batches = inBatches(entries);
  const work = async (): Promise<void> => {
    for (const batch of batches) await call(url, 'kv/txn', { success: batch.map(putOperation) });
  };
  // All workers share one iterator, so each batch is sent once.
  await Promise.all(Array.from({ length: inFlight }, work));
}

function* inBatches(entries: Iterable<EtcdEntry>): Generator<EtcdEntry[]> {
  let batch: EtcdEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    if (batch.length === maxOperations || (batch.length > 0 && bytes + entry.value.length > maxBytes)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(entry);
    bytes += entry.value.length;
  }
  if (batch.length > 0) yield batch;
}

function putOperation({ key, value }: EtcdEntry): object {
  return { requestPut: { key: base64(key), value: value.toString('base64') } };
}

function rangeOf(prefix: string): { key: string; range_end: string } {
  const end = Buffer.from(prefix);
  end[end.length - 1] = (end.at(-1) ?? 0) + 1;
  return { key: base64(prefix), range_end: end.toString('base64') };
}

async function call<Response>(url: string, path: string, body: object): Promise<Response> {
  const headers = { connection: 'close' };
  const response = await fetch(`${url}/v3/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`etcd ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as Response;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
