/** A GCPolicy that the API server and dustpan must refuse; both messages must name the field. */
export interface BadPolicy {
  readonly name: string;
  readonly spec: unknown;
  /** Path that the message must name. */
  readonly field: string;
  /** What both messages say about the field; '' = anything. */
  readonly message: string;
}

/** Rows about the fields of a block, such as `pods.terminated`; '' = the spec itself. */
export const rowsOf = (
  block: string,
  rows: readonly (readonly [name: string, fields: unknown, field: string, message?: string])[],
): readonly BadPolicy[] =>
  rows.map(([name, fields, field, message = '']) => ({
    name,
    spec: nested(block, fields),
    field: ['spec', block, field].filter((part) => part !== '').join('.'),
    message,
  }));

/** Rows about one field of a block, with the values as people write them; the message has the correction, if there is one. */
export const miswritten = (
  [block, field]: readonly [block: string, field: string],
  fieldsOf: (value: string) => object,
  message: string,
  values: Readonly<Record<string, string>>,
): readonly BadPolicy[] =>
  rowsOf(
    block,
    Object.entries(values).map(([value, correction]) => [
      `"${value}" in ${field}`,
      fieldsOf(value),
      field,
      `${message}${correction === '' ? '' : ` (write ${correction})`}`,
    ]),
  );

const nested = (block: string, fields: unknown): unknown =>
  block === '' ? fields : block.split('.').reduceRight((inner, name) => ({ [name]: inner }), fields);
