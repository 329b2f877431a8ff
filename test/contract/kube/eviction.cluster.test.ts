import { contractServer, startCrdCluster } from '../../cluster/servers/contract.ts';
import { evictionSuite } from './eviction.suite.ts';

// Of the controllers only the one that counts disruptions: the others would collect pods whose node does not exist.
evictionSuite(
  async () =>
    contractServer(
      await startCrdCluster({
        parts: ['etcd', 'api', 'kcm'],
        kcm: { controllers: 'disruption-controller,serviceaccount-controller' },
      }),
    ),
  { controller: true },
);
