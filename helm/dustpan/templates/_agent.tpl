{{/* Where runtimes are, by agent.runtime: the socket, and what holds its images. */}}
{{- define "dustpan.agent.runtimes" -}}
containerd: {socket: /run/containerd/containerd.sock, root: /var/lib/containerd}
crio: {socket: /run/crio/crio.sock, root: /var/lib/containers}
cri-dockerd: {socket: /run/cri-dockerd.sock, root: /var/lib/docker}
k3s: {socket: /run/k3s/containerd/containerd.sock, root: /var/lib/rancher/k3s/agent/containerd}
rke2: {socket: /run/k3s/containerd/containerd.sock, root: /var/lib/rancher/rke2/agent/containerd}
k0s: {socket: /run/k0s/containerd.sock, root: /var/lib/k0s/containerd}
microk8s: {socket: /var/snap/microk8s/common/run/containerd.sock, root: /var/snap/microk8s/common/var/lib/containerd}
{{- end }}

{{- define "dustpan.agent.runtime" -}}
{{- default (include "dustpan.platform" (dict "root" . "field" "runtime")) .Values.agent.runtime -}}
{{- end }}

{{- define "dustpan.agent.kubeletRoot" -}}
{{- .Values.agent.hostPaths.kubelet | default (include "dustpan.platform" (dict "root" . "field" "kubelet")) | default "/var/lib/kubelet" -}}
{{- end }}

{{- define "dustpan.agent.socket" -}}
{{- $known := get (include "dustpan.agent.runtimes" . | fromYaml) (include "dustpan.agent.runtime" .) -}}
{{- default $known.socket .Values.agent.criSocket -}}
{{- end }}

{{/* "true" where the socket lies among those of other programs: then the agent gets no directory, only the socket. */}}
{{- define "dustpan.agent.mountsSocket" -}}
{{- if has (include "dustpan.agent.socket" . | dir) (list "/run" "/var/run") -}}true{{- end -}}
{{- end }}

{{- define "dustpan.agent.runtimeRoot" -}}
{{- $known := get (include "dustpan.agent.runtimes" . | fromYaml) (include "dustpan.agent.runtime" .) -}}
{{- default $known.root .Values.agent.hostPaths.runtimeRoot -}}
{{- end }}

{{/* Where the kubelet listens: as the program takes its flag, which has no path. */}}
{{- define "dustpan.agent.kubeletPort" -}}
{{- with .Values.agent.kubelet.endpoint -}}
{{- regexFind ":[0-9]+/?$" . | trimAll ":/" | default "443" -}}
{{- else -}}
10250
{{- end -}}
{{- end }}

{{- define "dustpan.agent.securityContext" -}}
{{- $context := deepCopy (default dict .Values.agent.securityContext) -}}
{{- with include "dustpan.platform" (dict "root" . "field" "seLinuxType") -}}
{{- $context = set $context "seLinuxOptions" (dict "type" .) -}}
{{- end -}}
{{- with .Values.agent.seLinuxOptions -}}
{{- $context = set $context "seLinuxOptions" . -}}
{{- end -}}
{{- if .Values.agent.orphans.podDirectories -}}
{{- $capabilities := deepCopy (default dict $context.capabilities) -}}
{{- $context = set $context "capabilities" (set $capabilities "add" (append (default list $capabilities.add) "DAC_OVERRIDE" | uniq)) -}}
{{- end -}}
{{- toYaml $context -}}
{{- end }}

{{/* Whether this release restricts its agents' writes to their own node; empty: it does not. */}}
{{- define "dustpan.agent.isPinned" -}}
{{- if and (include "dustpan.agent.enabled" .) .Values.admissionPolicy.enabled -}}
true
{{- end -}}
{{- end }}

{{/* What both admission policies have in common. It ends inside the list of validations, so that each policy appends its own. */}}
{{- define "dustpan.agent.admission" -}}
failurePolicy: {{ .Values.admissionPolicy.failurePolicy }}
matchConditions:
  - name: is-agent
    expression: request.userInfo.username == 'system:serviceaccount:{{ include "dustpan.namespace" . }}:{{ include "dustpan.agent.serviceAccountName" . }}'
variables:
  - name: nodeName
    expression: >-
      request.userInfo.extra[?'authentication.kubernetes.io/node-name'].orValue([]).size() == 1 ?
      request.userInfo.extra['authentication.kubernetes.io/node-name'][0] : ''
validations:
  - expression: variables.nodeName != ''
    # Without it a denial would be 422, as if the object were wrong.
    reason: Forbidden
    message: the agent's token is not that of a pod on a node
{{- end }}
