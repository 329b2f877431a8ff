import { startContractCluster } from '../../cluster/servers/contract.ts';
import { actionsSuite } from './actions.suite.ts';

actionsSuite(startContractCluster);
