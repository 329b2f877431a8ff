import { startContractCluster } from '../cluster/contract.ts';
import { actionsSuite } from './actions.suite.ts';

actionsSuite(startContractCluster);
