import type { Schema } from '../../src/api/schema.ts';

export function storedSchema(crd: object): Schema;
export function closedSchema(schema: Schema): Schema;
