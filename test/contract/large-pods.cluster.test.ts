import { startContractCluster } from '../cluster/contract.ts';
import { largePodsSuite } from './large-pods.suite.ts';

largePodsSuite(startContractCluster);
