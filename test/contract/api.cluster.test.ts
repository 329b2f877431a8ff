import { startContractCluster } from '../cluster/contract.ts';
import { apiSuite } from './api.suite.ts';

apiSuite(startContractCluster);
