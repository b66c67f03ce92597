package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/procfit/procfit/internal/check"
)

// KEDA's ScaledObjects make HorizontalPodAutoscalers.
var scalers = []struct{ group, resource, kind string }{
	{"autoscaling/v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler"},
	{"autoscaling.k8s.io/v1", "verticalpodautoscalers", "VerticalPodAutoscaler"},
}

// scaler is what is kept of one: a file's object, in the folder of its namespace.
type scaler struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Metadata   metadata        `json:"metadata"`
	Spec       json.RawMessage `json:"spec"`
}

// readScalers gives every autoscaler. A cluster without VerticalPodAutoscalers has none.
func (r *reading) readScalers(ctx context.Context) error {
	for _, of := range scalers {
		before := len(r.files)
		err := pages(ctx, func() { r.files = r.files[:before] }, func(ctx context.Context, o meta.ListOptions) (string, error) {
			b, err := r.client.get(ctx, of.group, r.o.Namespace, of.resource, o)
			if err != nil {
				return "", err
			}
			var list struct {
				Metadata struct{ Continue string }
				Items    []scaler
			}
			if err := json.Unmarshal(b, &list); err != nil {
				return "", fmt.Errorf("the list is not valid JSON: %w", err)
			}
			for _, item := range list.Items {
				item.APIVersion, item.Kind = of.group, of.kind
				b, err := json.Marshal(item)
				if err != nil {
					return "", fmt.Errorf("%s %s/%s: %w", of.kind, item.Metadata.Namespace, item.Metadata.Name, err)
				}
				r.files = append(r.files, check.NewFile(item.Metadata.Namespace+"/"+of.kind+"."+item.Metadata.Name+".json", b))
			}
			return list.Metadata.Continue, nil
		})
		switch {
		case apierrors.IsForbidden(err):
			r.note("no permission to list " + of.resource + ": whether they can work with the GOMAXPROCS of their pods is not known")
		case apierrors.IsNotFound(err): // the cluster does not have this kind
		case err != nil:
			return explain("list the "+of.resource, err)
		}
	}
	return nil
}

// The same object is given for each size of a node.
func once(r *check.Report) {
	seen := map[check.Finding]bool{}
	r.Findings = slices.DeleteFunc(r.Findings, func(f check.Finding) bool {
		f.Change = nil
		again := seen[f] && f.Container == ""
		seen[f] = true
		return again
	})
}
