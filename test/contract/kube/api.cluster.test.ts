import { startContractCluster } from '../../cluster/servers/contract.ts';
import { apiSuite } from './api.suite.ts';

apiSuite(startContractCluster);
