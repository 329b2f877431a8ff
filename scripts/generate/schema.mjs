/** The schema of a CRD's storage version. */
export function storedSchema(crd) {
  return crd.spec.versions.find((version) => version.storage).schema.openAPIV3Schema;
}

/** All sub-schemas with their path, parents first; `*` is any key of a map, `[]` any entry of a list. */
export function* walk(schema, path = '') {
  yield { schema, path };
  for (const [name, field] of Object.entries(schema.properties ?? {}))
    yield* walk(field, path === '' ? name : `${path}.${name}`);
  if (typeof schema.items === 'object') yield* walk(schema.items, `${path}[]`);
  if (typeof schema.additionalProperties === 'object') yield* walk(schema.additionalProperties, `${path}.*`);
}

const dateTime = '^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$';

/** How a text is decoded, by the message of its rule: `must be a duration …`; undefined = not at all. */
export const decodingOf = ({ 'x-kubernetes-validations': [rule] = [] }) =>
  /^must be a (duration|quantity|time) /.exec(rule?.message ?? '')?.[1];

/**
 * The JSON schema that rejects what the API server rejects or drops: unknown fields, and duplicate entries of a set.
 * The only checked format is date-time: each integer has its bounds.
 */
export function closedSchema(schema) {
  const { description, format, properties, items, additionalProperties, ...rest } = schema;
  const { 'x-kubernetes-list-type': listType, 'x-kubernetes-map-type': _, ...kept } = rest;
  return {
    ...kept,
    ...(format === 'date-time' && { pattern: dateTime, format }),
    ...(decodingOf(schema) && { format: decodingOf(schema) }),
    ...(listType === 'set' && { uniqueItems: true }),
    ...(items && { items: closedSchema(items) }),
    ...(schema.type === 'object' && {
      properties: mapValues(properties ?? {}, closedSchema),
      additionalProperties: additionalProperties ? closedSchema(additionalProperties) : false,
    }),
  };
}

const mapValues = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
