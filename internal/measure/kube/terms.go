package kube

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/secret"
)

// TermKind is a sort of thing that a copy has from its original.
type TermKind string

const (
	TermSecret         TermKind = "secret"
	TermConfigMap      TermKind = "configmap"
	TermClaim          TermKind = "claim"
	TermServiceAccount TermKind = "service_account"
	TermPriority       TermKind = "priority_class"
	TermAddress        TermKind = "address" // of something that it works on: Name the variable, Detail the value, or where it comes from
	TermHostPath       TermKind = "host_path"
	TermNFS            TermKind = "nfs"
)

// Term is one thing that a copy has from its original, and so works on or as too.
type Term struct {
	Kind   TermKind
	Name   string
	Detail string // without credentials
}

// Terms are all of them, each once.
func (s Subject) Terms() (list []Term) {
	add := func(kind TermKind, name, detail string) {
		if t := (Term{kind, name, detail}); name != "" && !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	t := s.Template.Spec
	if t.AutomountServiceAccountToken == nil || *t.AutomountServiceAccountToken {
		add(TermServiceAccount, cmp.Or(t.ServiceAccountName, "default"), "")
	}
	add(TermPriority, t.PriorityClassName, "")
	for _, v := range t.Volumes {
		switch {
		case v.Secret != nil:
			add(TermSecret, v.Secret.SecretName, "")
		case v.ConfigMap != nil:
			add(TermConfigMap, v.ConfigMap.Name, "")
		case v.PersistentVolumeClaim != nil:
			add(TermClaim, v.PersistentVolumeClaim.ClaimName, "")
		case v.HostPath != nil:
			add(TermHostPath, v.HostPath.Path, "")
		case v.NFS != nil:
			add(TermNFS, v.NFS.Server+":"+v.NFS.Path, "")
		case v.CSI != nil && v.CSI.NodePublishSecretRef != nil:
			add(TermSecret, v.CSI.NodePublishSecretRef.Name, "")
		case v.Projected != nil && !injected(v.Name):
			for _, from := range v.Projected.Sources {
				if from.Secret != nil {
					add(TermSecret, from.Secret.Name, "")
				}
				if from.ConfigMap != nil {
					add(TermConfigMap, from.ConfigMap.Name, "")
				}
			}
		}
	}
	for _, c := range slices.Concat(t.InitContainers, t.Containers) {
		for _, f := range c.EnvFrom {
			if f.SecretRef != nil {
				add(TermSecret, f.SecretRef.Name, "")
			}
			add(TermConfigMap, configMapOf(f), "")
		}
		for _, e := range c.Env {
			kind, name, from := variableFrom(e)
			add(kind, name, "")
			if from != "" && addressName().MatchString(e.Name) || from == "" && isAddress(e.Name, e.Value) {
				add(TermAddress, e.Name, from+secret.Text(e.Value))
			}
		}
	}
	return list
}

// variableFrom is what a variable's value comes from, if that has a name, and in words; empty: it is
// in the template.
func variableFrom(e corev1.EnvVar) (kind TermKind, name, words string) {
	switch f := e.ValueFrom; {
	case f == nil:
		return "", "", ""
	case f.SecretKeyRef != nil:
		return TermSecret, f.SecretKeyRef.Name, "from the Secret " + f.SecretKeyRef.Name
	case f.ConfigMapKeyRef != nil:
		return TermConfigMap, f.ConfigMapKeyRef.Name, "from the ConfigMap " + f.ConfigMapKeyRef.Name
	}
	return "", "", "from the pod itself"
}

var (
	// addressName is a variable that leads somewhere, by what such are called.
	addressName = pattern.Of(`(?i)(^|_)(HOSTS?|ADDR|ADDRESS(ES)?|URLS?|URI|DSN|ENDPOINTS?|BROKERS?|SERVERS?|DATABASE|QUEUE|TOPIC|BUCKET)$`)
	// addressValue is a URL, host:port, or the DSN of a Go database driver.
	addressValue = pattern.Of(`^[a-z][a-z0-9+.-]*://|^[A-Za-z0-9.-]+:\d{2,5}(,|/|$)|@(tcp|unix)\(`)
)

func isAddress(name, value string) bool {
	listens := strings.HasPrefix(value, ":") || strings.HasPrefix(value, "0.0.0.0:") // its own
	return value != "" && !listens && (addressValue().MatchString(value) || addressName().MatchString(name))
}
