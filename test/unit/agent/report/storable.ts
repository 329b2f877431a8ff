import { expect } from 'vitest';
import type { NodeGCReportStatus } from '../../../../src/api/gen/nodegcreport.gen.ts';
import { schemaChecker } from '../../../sandbox/api/schema.ts';
import { nodeGcReportCrd } from '../../api/crd.ts';

const checkCrd = schemaChecker(nodeGcReportCrd);

/** Expects that an API server accepts the status, and drops no field of it. */
export const expectStorable = (status: NodeGCReportStatus): void => {
  const report = {
    ...{ apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'NodeGCReport', metadata: { name: 'n' } },
    status,
  };
  expect(checkCrd(report)).toEqual({ object: report, problems: [] });
};
