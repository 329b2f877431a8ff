import { startContractCluster } from '../../cluster/servers/contract.ts';
import { nodeReportSuite } from './node-report.suite.ts';

nodeReportSuite(startContractCluster);
