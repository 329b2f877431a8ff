{{/*
What each platform sets, a line each; ADR 0119 has the sources. Values that are not empty replace it.
  runtime      agent.runtime
  kubelet      agent.hostPaths.kubelet, without it /var/lib/kubelet
  seLinuxType  the type in agent.seLinuxOptions
  noAgents     why no agent can run there
  quota        a ResourceQuota admits the priority classes system-…
  scc          pods need a SecurityContextConstraints, which assigns users and groups
  enforces     the Pod Security standard of namespaces without labels
*/}}
{{- define "dustpan.platforms" -}}
generic: {runtime: containerd}
gke: {runtime: containerd, quota: true}
gke-autopilot: {runtime: containerd, noAgents: Autopilot rejects pods that write to directories of a node or use the runtime's socket}
eks: {runtime: containerd}
aks: {runtime: containerd}
openshift: {runtime: crio, seLinuxType: spc_t, scc: true}
k3s: {runtime: k3s}
rke2: {runtime: rke2}
k0s: {runtime: k0s, kubelet: /var/lib/k0s/kubelet}
microk8s: {runtime: microk8s, kubelet: /var/snap/microk8s/common/var/lib/kubelet}
talos: {runtime: containerd, enforces: baseline}
bottlerocket: {runtime: containerd, seLinuxType: control_t}
kind: {runtime: containerd}
{{- end }}

{{/* A field of the chosen platform; root, field. Empty: the platform does not set it. */}}
{{- define "dustpan.platform" -}}
{{- get (get (include "dustpan.platforms" .root | fromYaml) .root.Values.platform) .field -}}
{{- end }}

{{/* "true" where a component is rendered. */}}
{{- define "dustpan.controller.enabled" -}}
{{- if .Values.controller.enabled -}}true{{- end -}}
{{- end }}

{{- define "dustpan.agent.enabled" -}}
{{- if not (include "dustpan.agent.absence" .) -}}true{{- end -}}
{{- end }}

{{/* Why no agent is rendered; empty: one is. */}}
{{- define "dustpan.agent.absence" -}}
{{- if not .Values.agent.enabled -}}
agent.enabled is false
{{- else -}}
{{ include "dustpan.agent.impossible" . }}
{{- end -}}
{{- end }}

{{/* Why the platform allows no agents; empty: it does. */}}
{{- define "dustpan.agent.impossible" -}}
{{- with include "dustpan.platform" (dict "root" . "field" "noAgents") -}}
platform is {{ $.Values.platform }}, and {{ . }}
{{- end -}}
{{- end }}

{{/* A security context of pods without the users of the image, where the platform assigns others; root, context. */}}
{{- define "dustpan.podSecurityContext" -}}
{{- $context := default dict .context -}}
{{- if include "dustpan.platform" (dict "root" .root "field" "scc") -}}
{{- range list "runAsUser" "runAsGroup" "fsGroup" -}}
{{- if eq (get $context . | toString) "65532" -}}
{{- $context = omit $context . -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with $context -}}
{{- toYaml . -}}
{{- end -}}
{{- end }}

{{/* Runtimes by what a node reports as containerRuntimeVersion, and platforms by its kubeletVersion. Forms that are not here contradict nothing. */}}
{{- define "dustpan.platform.reported" -}}
runtimes:
  ^containerd://.*-k3s: [k3s, rke2]
  ^containerd://: [containerd, k3s, rke2, k0s, microk8s]
  ^cri-o://: [crio]
  ^docker://: [cri-dockerd]
platforms:
  \+k3s: [k3s]
  \+rke2: [rke2]
  \+k0s: [k0s]
  -gke\.: [gke, gke-autopilot]
  -eks-: [eks, bottlerocket, generic]
{{- end }}

{{/* What nodes of a platform report, as the form of a field of nodeInfo, or have as a label. Other platforms have no such mark. */}}
{{- define "dustpan.platform.marks" -}}
gke: {kubeletVersion: -gke\.}
gke-autopilot: {kubeletVersion: -gke\.}
k3s: {kubeletVersion: \+k3s}
rke2: {kubeletVersion: \+rke2}
k0s: {kubeletVersion: \+k0s}
microk8s: {label: microk8s.io/cluster}
talos: {osImage: ^Talos}
bottlerocket: {osImage: ^Bottlerocket}
{{- end }}

{{/* What a node has instead of the mark of a platform, or "marked"; empty: too little is known, or the platform has no mark. node, platform. */}}
{{- define "dustpan.platform.instead" -}}
{{- $info := default dict .node.status.nodeInfo -}}
{{- range $field, $form := get (include "dustpan.platform.marks" . | fromYaml) .platform | default dict -}}
{{- $value := default "" (get $info (ternary "kubeletVersion" $field (eq $field "label"))) -}}
{{- if regexMatch "[0-9]" $value -}}
{{- if ternary (hasKey (default dict $.node.metadata.labels) $form) (regexMatch $form $value) (eq $field "label") -}}
marked
{{- else -}}
{{ ternary (printf "has no label %s" $form) (printf "reports %s %s" $field $value) (eq $field "label") }}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Fails if a node of the agents reports another runtime or platform. Without a cluster, as in `helm template`, there are no nodes. */}}
{{- define "dustpan.platform.check" -}}
{{- if and .Values.platformCheck .Values.agent.enabled -}}
{{- $reported := include "dustpan.platform.reported" . | fromYaml -}}
{{- $platform := .Values.platform -}}
{{- $runtime := include "dustpan.agent.runtime" . -}}
{{- $off := "platformCheck=false skips this check" -}}
{{- $marks := list -}}
{{- range $node := (lookup "v1" "Node" "" "").items -}}
{{- $isSelected := true -}}
{{- range $key, $value := $.Values.agent.nodeSelector -}}
{{- $isSelected = and $isSelected (eq (get (default dict $node.metadata.labels) $key) $value) -}}
{{- end -}}
{{- if $isSelected -}}
{{- $is := printf "node %s reports" $node.metadata.name -}}
{{- with include "dustpan.platform.instead" (dict "node" $node "platform" $platform) -}}
{{- $marks = append $marks (ternary . (printf "node %s %s" $node.metadata.name .) (eq . "marked")) -}}
{{- end -}}
{{- with $node.status.nodeInfo -}}
{{- /* An explicit runtime or socket is for nodes that differ from their platform. */ -}}
{{- if not (or $.Values.agent.runtime $.Values.agent.criSocket) -}}
{{- range $form, $platforms := $reported.platforms -}}
{{- if and (regexMatch $form $node.status.nodeInfo.kubeletVersion) (not (has $platform $platforms)) -}}
{{- fail (printf "platform is %s, but %s kubelet %s: set platform to %s (%s)" $platform $is $node.status.nodeInfo.kubeletVersion (join " or " $platforms) $off) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and (include "dustpan.agent.enabled" $) (not $.Values.agent.criSocket) -}}
{{- range $form, $runtimes := $reported.runtimes -}}
{{- if and (regexMatch $form $node.status.nodeInfo.containerRuntimeVersion) (not (has $runtime $runtimes)) -}}
{{- fail (printf "the container runtime of platform %s is %s, but %s %s: set platform, or agent.runtime to %s (%s)" $platform $runtime $is $node.status.nodeInfo.containerRuntimeVersion (join " or " $runtimes) $off) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- /* At an upgrade the nodes of a platform may be scaled to 0. */ -}}
{{- if and .Release.IsInstall $marks (not (has "marked" $marks)) (not (or .Values.agent.runtime .Values.agent.criSocket)) -}}
{{- fail (printf "platform is %s, but no node is of it, for example %s: set platform to that of the nodes, or leave it out (%s, if nodes of it join later)" $platform (first $marks) $off) -}}
{{- end -}}
{{- end -}}
{{- end }}
