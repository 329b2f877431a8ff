/** The schema of the version that a CRD stores. */
export function storedSchema(crd) {
  return crd.spec.versions.find((version) => version.storage).schema.openAPIV3Schema;
}

/** All sub-schemas with their path, parents first; `*` stands for the keys of a map, `[]` for the entries of a list. */
export function* walk(schema, path = '') {
  yield { schema, path };
  for (const [name, field] of Object.entries(schema.properties ?? {}))
    yield* walk(field, path === '' ? name : `${path}.${name}`);
  if (typeof schema.items === 'object') yield* walk(schema.items, `${path}[]`);
  if (typeof schema.additionalProperties === 'object') yield* walk(schema.additionalProperties, `${path}.*`);
}

const dateTime = '^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)$';

/**
 * The JSON schema that refuses what the API server refuses or drops: fields without a schema, and an entry of a set given twice.
 * Of the formats only times are checked: each integer has its bounds.
 */
export function closedSchema(schema) {
  const { description, format, properties, items, additionalProperties, ...rest } = schema;
  const { 'x-kubernetes-list-type': listType, 'x-kubernetes-map-type': _, ...kept } = rest;
  return {
    ...kept,
    ...(format === 'date-time' && { pattern: dateTime }),
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
