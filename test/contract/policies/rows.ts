/** A GCPolicy that the API server must refuse; the message must name the field. */
export type BadRow = readonly [name: string, spec: unknown, field: string];

/** Rows about the fields of a block, such as `pods.terminated`. */
export const rowsOf = (
  block: string,
  rows: readonly (readonly [name: string, fields: unknown, field: string])[],
): readonly BadRow[] =>
  rows.map(([name, fields, field]) => [name, nested(block, fields), `spec.${block}.${field}`]);

const nested = (block: string, fields: unknown): unknown =>
  block.split('.').reduceRight((inner, name) => ({ [name]: inner }), fields);
