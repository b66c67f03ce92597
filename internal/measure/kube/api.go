package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// api is an API server, and the namespace that a sweep runs in. Its methods repeat a call that
// brought no answer.
type api struct{ *cluster.Client }

func open(a Access) (*api, error) {
	c, err := cluster.Connect(a, cluster.Use{PerSecond: 50, Patience: agent.Patience})
	if err != nil {
		return nil, err
	}
	return &api{c}, nil
}

type object interface {
	runtime.Object
	metav1.Object
}

// send sends a request until the server answers, and reads the answer into an object; nil: it is of
// no use.
func (c *api) send(ctx context.Context, request *cluster.Request, into runtime.Object) error {
	return c.Call(ctx, func(ctx context.Context) error {
		answer := request.Do(ctx)
		if into == nil {
			return answer.Error()
		}
		return answer.Into(into)
	})
}

func (c *api) get(ctx context.Context, group cluster.Group, resource, name string, into runtime.Object) error {
	return c.send(ctx, group.Get().Namespace(c.Namespace).Resource(resource).Name(name), into)
}

func (c *api) list(ctx context.Context, group cluster.Group, resource string, o metav1.ListOptions, into runtime.Object) error {
	err := c.send(ctx, group.Get().Namespace(c.Namespace).Resource(resource).VersionedParams(&o, c.Parameters), into)
	if err != nil {
		return fmt.Errorf("cannot list the %s of namespace %s: %w", resource, c.Namespace, err)
	}
	return nil
}

// node is one of the cluster's, which are in no namespace.
func (c *api) node(ctx context.Context, name string) (n corev1.Node, err error) {
	err = c.send(ctx, c.Core.Get().Resource("nodes").Name(name), &n)
	return n, err
}

// create creates what is sent, and reads what came of it into the same or another object. What a
// call without an answer has created already is that.
func (c *api) create(ctx context.Context, resource string, sent, into object) error {
	err := c.send(ctx, c.Core.Post().Namespace(c.Namespace).Resource(resource).Body(sent), into)
	if apierrors.IsAlreadyExists(err) {
		return c.get(ctx, c.Core, resource, sent.GetName(), into)
	}
	return err
}

// dryRun has the server try what is sent, and reads what would come of it.
func (c *api) dryRun(ctx context.Context, sent, into *corev1.Pod) error {
	o := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	return c.send(ctx, c.Core.Post().Namespace(c.Namespace).Resource("pods").VersionedParams(&o, c.Parameters).Body(sent), into)
}

// delete deletes an object; one that is gone is fine.
func (c *api) delete(ctx context.Context, resource, name string, o metav1.DeleteOptions) error {
	err := c.send(ctx, c.Core.Delete().Namespace(c.Namespace).Resource(resource).Name(name).Body(&o), nil)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("cannot delete %s/%s: %w", resource, name, err)
	}
	return nil
}

// attach adds an ephemeral container to a pod, or with into has the server try that.
func (c *api) attach(ctx context.Context, pod string, e corev1.EphemeralContainer, into *corev1.Pod) error {
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"ephemeralContainers": []corev1.EphemeralContainer{e}}})
	if err != nil {
		return err
	}
	request := c.Core.Patch(types.StrategicMergePatchType).Namespace(c.Namespace).Resource("pods").Name(pod).SubResource("ephemeralcontainers").Body(patch)
	if into == nil {
		return c.send(ctx, request, nil)
	}
	o := metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}
	return c.send(ctx, request.VersionedParams(&o, c.Parameters), into)
}

// logs is a container's output, of a long one the beginning and the end.
func (c *api) logs(ctx context.Context, pod, container string) (text []byte, cut bool, err error) {
	o := corev1.PodLogOptions{Container: container}
	request := c.Core.Get().Namespace(c.Namespace).Resource("pods").Name(pod).SubResource("log").VersionedParams(&o, c.Parameters)
	err = c.Call(ctx, func(ctx context.Context) error {
		in, err := request.Stream(ctx)
		if err != nil {
			return err
		}
		defer in.Close()
		var kept bytes.Buffer
		cut, err = supervisor.Shorten(&kept, in, trial.LogLimit)
		text = kept.Bytes()
		return err
	})
	return text, cut, err
}
