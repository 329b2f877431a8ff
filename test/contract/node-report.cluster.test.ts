import { startContractCluster } from '../cluster/contract.ts';
import { nodeReportSuite } from './node-report.suite.ts';

nodeReportSuite(startContractCluster);
