{{/* What pods of both components have in common. */}}

{{- define "dustpan.image" -}}
{{- $image := .Values.image -}}
{{- if and $image.tag $image.digest -}}
{{- fail "image.tag and image.digest: only one of them can say which image; leave the other empty" -}}
{{- end -}}
{{- $digest := $image.digest -}}
{{- if not $image.tag -}}
{{- /* What the chart was released with, unless somebody wants another. */ -}}
{{- $digest = default (index .Chart.Annotations "gc.dustpan.dev/image-digest") $digest -}}
{{- end -}}
{{- $registry := default $image.registry .Values.global.imageRegistry -}}
{{- $name := $image.repository -}}
{{- if $registry -}}
{{- $name = printf "%s/%s" (trimSuffix "/" $registry) $image.repository -}}
{{- end -}}
{{- if $digest -}}
{{- printf "%s@%s" $name $digest -}}
{{- else -}}
{{- printf "%s:%s" $name (default .Chart.AppVersion $image.tag) -}}
{{- end -}}
{{- end }}

{{/* The lines of a pod's spec that only hand values on; root and values (of the component). */}}
{{- define "dustpan.podSpec" -}}
{{- with concat .root.Values.global.imagePullSecrets .root.Values.imagePullSecrets | uniq }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with include "dustpan.podSecurityContext" (dict "root" .root "context" .values.podSecurityContext) }}
securityContext:
  {{- . | nindent 2 }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.podSpec }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Flags of both components, one an item; root and values. */}}
{{- define "dustpan.commonArgs" -}}
- --metrics-bind-address={{ if .root.Values.metrics.enabled }}:{{ .root.Values.metrics.port | int64 }}{{ else }}0{{ end }}
{{- if include "dustpan.isSecure" .root }}
- --metrics-secure
- --metrics-cert-dir=/etc/dustpan/metrics-tls
- --metrics-auth={{ .root.Values.metrics.secure.auth }}
{{- end }}
- --health-probe-bind-address=:{{ .values.healthPort | int64 }}
- --v={{ .root.Values.log.verbosity | int64 }}
- --log-format={{ .root.Values.log.format }}
{{- with .values.extraArgs }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The lines of a container below its command; root and values. */}}
{{- define "dustpan.container" -}}
ports:
  {{- if .root.Values.metrics.enabled }}
  - {name: metrics, containerPort: {{ .root.Values.metrics.port | int64 }}, protocol: TCP}
  {{- end }}
  - {name: health, containerPort: {{ .values.healthPort | int64 }}, protocol: TCP}
{{- with .values.livenessProbe }}
livenessProbe:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.readinessProbe }}
readinessProbe:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.envFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Annotations of pods; root, component and its values. */}}
{{- define "dustpan.podAnnotations" -}}
{{- $metrics := .root.Values.metrics -}}
{{- $own := dict "kubectl.kubernetes.io/default-container" .component -}}
{{- if and $metrics.enabled $metrics.scrapeAnnotations (not (include "dustpan.hasMonitor" .)) -}}
{{- $own = merge $own (dict
  "prometheus.io/scrape" "true"
  "prometheus.io/port" ($metrics.port | int64 | toString)
  "prometheus.io/path" "/metrics") -}}
{{- if include "dustpan.isSecure" .root -}}
{{- $own = set $own "prometheus.io/scheme" "https" -}}
{{- end -}}
{{- end -}}
{{- merge (dict) .values.podAnnotations $own | toYaml -}}
{{- end }}
