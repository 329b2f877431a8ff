import { startContractCluster } from '../../cluster/servers/contract.ts';
import { largePodsSuite } from './large-pods.suite.ts';

largePodsSuite(startContractCluster);
