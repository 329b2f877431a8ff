import { asList, asObject, isObject, type JsonObject, type KubeObject } from './json.ts';

/** A column of `kubectl get` as a CustomResourceDefinition declares it; with a priority only `-o wide` shows it. */
export interface PrinterColumn extends JsonObject {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly priority?: number;
}

const nameColumn = { name: 'Name', type: 'string', format: 'name' };

/** The objects as rows, in the form that `kubectl get` requests. */
export function tableOf(objects: readonly KubeObject[], columns: readonly PrinterColumn[]): JsonObject {
  return {
    columnDefinitions: [nameColumn, ...columns].map((column) =>
      Object.assign({ format: '', priority: 0 }, column),
    ),
    rows: objects.map((object) => ({
      cells: [object.metadata.name, ...columns.map((column) => cellOf(object, column))],
      object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object.metadata },
    })),
  };
}

function cellOf(object: KubeObject, { jsonPath, type }: PrinterColumn): unknown {
  const value = valueAt(object, jsonPath) ?? null;
  return type === 'date' && typeof value === 'string' ? ageOf(value) : value;
}

/** `.a.b` and `.list[?(@.key=="value")].c`: the forms that dustpan's columns have. */
function valueAt(object: JsonObject, path: string): unknown {
  return [...path.matchAll(/\.(\w+)(?:\[\?\(@\.(\w+)=="([^"]*)"\)\])?/g)].reduce<unknown>(
    (value, [, field = '', key, wanted]) => {
      const found = asObject(value)[field];
      return key === undefined ? found : asList(found).find((one) => isObject(one) && one[key] === wanted);
    },
    object,
  );
}

/** The two units that kubectl shows are one here. */
function ageOf(time: string): string {
  const seconds = Math.floor((Date.now() - Date.parse(time)) / 1000);
  return seconds < 120 ? `${seconds}s` : `${Math.floor(seconds / 60)}m`;
}
