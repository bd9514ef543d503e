{{- define "deltaweb.name" -}}
{{- if contains "deltaweb" .Release.Name -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-deltaweb" .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{- define "deltaweb.labels" -}}
app.kubernetes.io/name: deltaweb
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "deltaweb.selector" -}}
app.kubernetes.io/name: deltaweb
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "deltaweb.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "deltaweb.account" -}}
{{- $account := .Values.serviceAccount -}}
{{- if $account.create -}}
{{ $account.name | default (include "deltaweb.name" .) }}
{{- else -}}
{{ $account.name | default "default" }}
{{- end -}}
{{- end -}}

{{- define "deltaweb.secret" -}}
{{- if .Values.externalSecret.enabled -}}
{{ .Values.existingSecret | default (include "deltaweb.name" .) }}
{{- else -}}
{{ required "Set existingSecret to a secret with the keys secret-key, database-url and broker-url, or enable externalSecret." .Values.existingSecret }}
{{- end -}}
{{- end -}}

{{- define "deltaweb.claim" -}}
{{ .Values.home.existingClaim | default (printf "%s-home" (include "deltaweb.name" .)) }}
{{- end -}}

{{- define "deltaweb.podSecurity" -}}
runAsNonRoot: true
runAsUser: 999
runAsGroup: 999
fsGroup: 999
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "deltaweb.security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "deltaweb.mounts" -}}
- name: home
  mountPath: /var/lib/deltaweb
- name: tmp
  mountPath: /tmp
{{- end -}}

{{- define "deltaweb.volumes" -}}
- name: home
  persistentVolumeClaim:
    claimName: {{ include "deltaweb.claim" . }}
- name: tmp
  emptyDir:
    sizeLimit: {{ .Values.tmpSize }}
{{- end -}}

{{/* The variables of every container. Those of the secret come by its keys. */}}
{{- define "deltaweb.environment" -}}
- name: DELTAWEB_SECRET_KEY
  valueFrom:
    secretKeyRef: {name: {{ include "deltaweb.secret" . }}, key: secret-key}
- name: DELTAWEB_DATABASE_URL
  valueFrom:
    secretKeyRef: {name: {{ include "deltaweb.secret" . }}, key: database-url}
- name: DELTAWEB_BROKER_URL
  valueFrom:
    secretKeyRef: {name: {{ include "deltaweb.secret" . }}, key: broker-url}
{{- range $name, $key := .Values.secretVariables }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef: {name: {{ include "deltaweb.secret" $ }}, key: {{ $key }}}
{{- end }}
{{- end -}}

{{- define "deltaweb.settings" -}}
{{- $host := (urlParse .Values.publicUrl).host -}}
DELTAWEB_HOME: /var/lib/deltaweb
DELTAWEB_PRODUCTION: "true"
DELTAWEB_PUBLIC_URL: {{ .Values.publicUrl | quote }}
DELTAWEB_ALLOWED_HOSTS: {{ join "," (.Values.allowedHosts | default (list (regexReplaceAll ":[0-9]+$" $host ""))) | quote }}
DELTAWEB_ALLOWED_ROOTS: {{ join ":" .Values.allowedRoots | quote }}
DELTAWEB_TRUSTED_PROXIES: {{ join "," .Values.trustedProxies | quote }}
DELTAWEB_WEB_PROCESSES: {{ .Values.web.processes | quote }}
{{- range $name, $value := .Values.settings }}
{{ $name }}: {{ $value | toString | quote }}
{{- end }}
{{- end -}}

{{/* New pods start when the migration job has brought the database up to date. */}}
{{- define "deltaweb.waitForMigrations" -}}
- name: wait-for-migrations
  image: {{ include "deltaweb.image" . }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  command: [sh, -c, "until deltaweb migrate --check; do sleep 5; done"]
  envFrom:
    - configMapRef: {name: {{ include "deltaweb.name" . }}}
  env:
    {{- include "deltaweb.environment" . | nindent 4 }}
  securityContext:
    {{- include "deltaweb.security" . | nindent 4 }}
  resources:
    {{- toYaml .Values.migrate.resources | nindent 4 }}
  volumeMounts:
    {{- include "deltaweb.mounts" . | nindent 4 }}
{{- end -}}
