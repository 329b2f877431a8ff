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
