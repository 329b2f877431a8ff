/** A CRD as a module, without its texts: what plan checks policies against where no API server does. */
export function crdModule(name, source, crd) {
  const text = JSON.stringify({ spec: { versions: crd.spec.versions.map(versionOf) } }, undefined, 2);
  return `// Made from ${source} by npm run generate. Do not edit.\n\nexport const ${name}: object = ${text};\n`;
}

const versionOf = ({ name, storage, schema }) => ({
  name,
  storage,
  schema: { openAPIV3Schema: withoutTexts(schema.openAPIV3Schema) },
});

/** Of a schema; `properties` holds schemas by names that a user of the API chose, one of which may be `description`. */
function withoutTexts({ description, properties, items, additionalProperties, ...rest }) {
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, one]) => [name, withoutTexts(one)]),
      ),
    }),
    ...(items && { items: withoutTexts(items) }),
    ...(typeof additionalProperties === 'object' && {
      additionalProperties: withoutTexts(additionalProperties),
    }),
  };
}
