import { startContractCluster } from '../cluster/contract.ts';
import { policiesSuite } from './policies.suite.ts';

policiesSuite(startContractCluster);
