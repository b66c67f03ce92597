package kube

import (
	"bytes"
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/procfit/procfit/internal/host/cluster"
	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/measure/kube/agent"
	"github.com/procfit/procfit/internal/measure/trial"
)

// Access says which cluster, and as whom, as kubectl's flags do.
type Access = cluster.Access

// api is an API server, and the namespace that a sweep runs in.
type api struct{ *cluster.Client }

func open(a Access) (*api, error) {
	c, err := cluster.Connect(a, cluster.Use{PerSecond: 50, Patience: agent.Patience})
	if err != nil {
		return nil, err
	}
	return &api{c}, nil
}

// Each of these is one call.

func (c *api) getCore(ctx context.Context, resource, name string, into runtime.Object) error {
	return c.Core.Get().Namespace(c.Namespace).Resource(resource).Name(name).Do(ctx).Into(into)
}

func (c *api) getApps(ctx context.Context, resource, name string, into runtime.Object) error {
	return c.Apps.Get().Namespace(c.Namespace).Resource(resource).Name(name).Do(ctx).Into(into)
}

func (c *api) getBatch(ctx context.Context, resource, name string, into runtime.Object) error {
	return c.Batch.Get().Namespace(c.Namespace).Resource(resource).Name(name).Do(ctx).Into(into)
}

func (c *api) list(ctx context.Context, resource string, o metav1.ListOptions, into runtime.Object) error {
	return c.Core.Get().Namespace(c.Namespace).Resource(resource).VersionedParams(&o, c.Parameters).Do(ctx).Into(into)
}

// listOf is all of a resource in another group.
func (c *api) listOf(ctx context.Context, group cluster.Group, resource string, into runtime.Object) error {
	return group.Get().Namespace(c.Namespace).Resource(resource).Do(ctx).Into(into)
}

// create makes what is sent, or has it tried alone, and reads what came of it into the
// same or another object.
func (c *api) create(ctx context.Context, resource string, sent, into runtime.Object, o metav1.CreateOptions) error {
	return c.Core.Post().Namespace(c.Namespace).Resource(resource).VersionedParams(&o, c.Parameters).Body(sent).Do(ctx).Into(into)
}

func (c *api) update(ctx context.Context, resource, name string, object runtime.Object) error {
	return c.Core.Put().Namespace(c.Namespace).Resource(resource).Name(name).Body(object).Do(ctx).Error()
}

func (c *api) erase(ctx context.Context, resource, name string, o metav1.DeleteOptions) error {
	return c.Core.Delete().Namespace(c.Namespace).Resource(resource).Name(name).Body(&o).Do(ctx).Error()
}

// patchPod changes a subresource of a pod.
func (c *api) patchPod(ctx context.Context, name, subresource string, patch []byte) error {
	return c.Core.Patch(types.StrategicMergePatchType).Namespace(c.Namespace).Resource("pods").Name(name).SubResource(subresource).Body(patch).Do(ctx).Error()
}

// tryPatch is a server-side dry run of patchPod.
func (c *api) tryPatch(ctx context.Context, name, subresource string, patch []byte, into runtime.Object) error {
	o := metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}
	return c.Core.Patch(types.StrategicMergePatchType).Namespace(c.Namespace).Resource("pods").Name(name).SubResource(subresource).VersionedParams(&o, c.Parameters).Body(patch).Do(ctx).Into(into)
}

// logs is a container's output, of a long one the beginning and the end.
func (c *api) logs(ctx context.Context, pod, container string) (text []byte, cut bool, err error) {
	o := corev1.PodLogOptions{Container: container}
	in, err := c.Core.Get().Namespace(c.Namespace).Resource("pods").Name(pod).SubResource("log").VersionedParams(&o, c.Parameters).Stream(ctx)
	if err != nil {
		return nil, false, err
	}
	defer in.Close()
	var kept bytes.Buffer
	cut, err = supervisor.Shorten(&kept, in, trial.LogLimit)
	return kept.Bytes(), cut, err
}
