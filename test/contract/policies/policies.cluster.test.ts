import { startContractCluster } from '../../cluster/servers/contract.ts';
import { policiesSuite } from './policies.suite.ts';

policiesSuite(startContractCluster);
