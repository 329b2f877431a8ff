/** A GCPolicy that the API server must refuse; its message must name the field. */
export interface BadPolicy {
  readonly name: string;
  readonly spec: unknown;
  /** Path that the message must name. */
  readonly field: string;
}

/** Rows about the fields of a block, such as `pods.terminated`; '' = the spec itself. */
export const rowsOf = (
  block: string,
  rows: readonly (readonly [name: string, fields: unknown, field: string])[],
): readonly BadPolicy[] =>
  rows.map(([name, fields, field]) => ({
    name,
    spec: nested(block, fields),
    field: ['spec', block, field].filter((part) => part !== '').join('.'),
  }));

const nested = (block: string, fields: unknown): unknown =>
  block === '' ? fields : block.split('.').reduceRight((inner, name) => ({ [name]: inner }), fields);
