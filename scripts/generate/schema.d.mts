import type { Schema } from '../../src/api/policy/schema.ts';

export function storedSchema(crd: object): Schema;
export function closedSchema(schema: Schema): Schema;
