/** values.schema.json: rejects values that are not in values.yaml. */
export function chartSchema(values) {
  const { properties, ...rest } = mapOf(values);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $comment: 'Made from values.yaml by npm run generate. Do not edit.',
    title: 'Values of the chart dustpan',
    ...rest,
    properties: {
      // A parent chart may set the condition of this chart among its values.
      enabled: { type: 'boolean', description: 'For a parent chart that has this one on a condition.' },
      ...properties,
      // All charts of a parent share these.
      global: { ...properties.global, additionalProperties: true },
    },
  };
}

const mapOf = (nodes) => ({
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(nodes.map((node) => [node.key, schemaOf(node)])),
});

function schemaOf(node) {
  const description = node.text === '' ? {} : { description: node.text.replaceAll('`', '') };
  if (node.children.length > 0) return { ...description, ...mapOf(node.children) };
  return { ...description, type: typeOf(node.value), ...node.shape, default: node.value };
}

function typeOf(value) {
  return Number.isInteger(value) ? 'integer' : typeof value;
}
