// Prints the order in which a kubelet evicts pods; functions rank them that the kubelet does not export. Pods that it
// evicts in any order are in one group.
package main

import (
	"encoding/json"
	"log"
	"os"
	_ "unsafe" // for go:linkname

	v1 "k8s.io/api/core/v1"
	statsapi "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
	_ "k8s.io/kubernetes/pkg/kubelet/eviction"
	evictionapi "k8s.io/kubernetes/pkg/kubelet/eviction/api"
	kubelettypes "k8s.io/kubernetes/pkg/kubelet/types"
)

type statsFunc func(*v1.Pod) (statsapi.PodStats, bool)
type rankFunc func([]*v1.Pod, statsFunc)

//go:linkname buildSignalToRankFunc k8s.io/kubernetes/pkg/kubelet/eviction.buildSignalToRankFunc
func buildSignalToRankFunc(withImageFs bool, imageContainerSplitFs bool) map[evictionapi.Signal]rankFunc

//go:linkname cachedStatsFunc k8s.io/kubernetes/pkg/kubelet/eviction.cachedStatsFunc
func cachedStatsFunc([]statsapi.PodStats) statsFunc

type node struct {
	DedicatedImageFs bool                `json:"dedicatedImageFs"`
	SplitContainerFs bool                `json:"splitContainerFs"`
	Signal           evictionapi.Signal  `json:"signal"`
	Pods             []*v1.Pod           `json:"pods"`
	Stats            []statsapi.PodStats `json:"stats"`
}

// Critical pods are ranked, too, and then not evicted.
func (one node) order() [][]string {
	rank, ok := buildSignalToRankFunc(one.DedicatedImageFs, one.SplitContainerFs)[one.Signal]
	if !ok {
		log.Fatalf("no order for %s", one.Signal)
	}
	stats := cachedStatsFunc(one.Stats)
	rank(one.Pods, stats)
	groups := [][]string{}
	var last *v1.Pod
	for _, pod := range one.Pods {
		if kubelettypes.IsCriticalPod(pod) {
			continue
		}
		pair := []*v1.Pod{pod, last}
		if last != nil {
			rank(pair, stats)
		}
		if last == nil || pair[0] == last {
			groups = append(groups, nil)
		}
		end := &groups[len(groups)-1]
		*end = append(*end, string(pod.UID))
		last = pod
	}
	return groups
}

func main() {
	var nodes []node
	if err := json.NewDecoder(os.Stdin).Decode(&nodes); err != nil {
		log.Fatal(err)
	}
	orders := make([][][]string, 0, len(nodes))
	for _, one := range nodes {
		orders = append(orders, one.order())
	}
	if err := json.NewEncoder(os.Stdout).Encode(orders); err != nil {
		log.Fatal(err)
	}
}
