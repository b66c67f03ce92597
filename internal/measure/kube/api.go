package kube

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	authv1 "k8s.io/api/authorization/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// api speaks the groups that a sweep needs. The usual clientset knows all of them, which
// makes a program larger by 35 MB and slower to start.
type api struct {
	core, apps, batch, authorization, autoscaling, policy rest.Interface
	parameters                                            runtime.ParameterCodec
}

func newAPI(config *rest.Config) (*api, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, authv1.AddToScheme, autoscalingv2.AddToScheme, policyv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	a := &api{parameters: runtime.NewParameterCodec(scheme)}
	for _, group := range []struct {
		to      *rest.Interface
		version schema.GroupVersion
		path    string
	}{{&a.core, corev1.SchemeGroupVersion, "/api"}, {&a.apps, appsv1.SchemeGroupVersion, "/apis"}, {&a.batch, batchv1.SchemeGroupVersion, "/apis"}, {&a.authorization, authv1.SchemeGroupVersion, "/apis"},
		{&a.autoscaling, autoscalingv2.SchemeGroupVersion, "/apis"}, {&a.policy, policyv1.SchemeGroupVersion, "/apis"}} {
		of := rest.CopyConfig(config)
		of.GroupVersion, of.APIPath = &group.version, group.path
		of.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
		made, err := rest.RESTClientFor(of)
		if err != nil {
			return nil, fmt.Errorf("no access to a cluster: %w", err)
		}
		*group.to = made
	}
	return a, nil
}

// Each of these is one call.

func (c *cluster) getCore(ctx context.Context, resource, name string, into runtime.Object) error {
	return c.api.core.Get().Namespace(c.namespace).Resource(resource).Name(name).Do(ctx).Into(into)
}

func (c *cluster) getApps(ctx context.Context, resource, name string, into runtime.Object) error {
	return c.api.apps.Get().Namespace(c.namespace).Resource(resource).Name(name).Do(ctx).Into(into)
}

func (c *cluster) getBatch(ctx context.Context, resource, name string, into runtime.Object) error {
	return c.api.batch.Get().Namespace(c.namespace).Resource(resource).Name(name).Do(ctx).Into(into)
}

func (c *cluster) list(ctx context.Context, resource string, o metav1.ListOptions, into runtime.Object) error {
	return c.api.core.Get().Namespace(c.namespace).Resource(resource).VersionedParams(&o, c.api.parameters).Do(ctx).Into(into)
}

// listOf is all of a resource in another group.
func (c *cluster) listOf(ctx context.Context, group rest.Interface, resource string, into runtime.Object) error {
	return group.Get().Namespace(c.namespace).Resource(resource).Do(ctx).Into(into)
}

// create makes what is sent, or has it tried alone, and reads what came of it into the
// same or another object.
func (c *cluster) create(ctx context.Context, resource string, sent, into runtime.Object, o metav1.CreateOptions) error {
	return c.api.core.Post().Namespace(c.namespace).Resource(resource).VersionedParams(&o, c.api.parameters).Body(sent).Do(ctx).Into(into)
}

func (c *cluster) update(ctx context.Context, resource, name string, object runtime.Object) error {
	return c.api.core.Put().Namespace(c.namespace).Resource(resource).Name(name).Body(object).Do(ctx).Error()
}

func (c *cluster) erase(ctx context.Context, resource, name string, o metav1.DeleteOptions) error {
	return c.api.core.Delete().Namespace(c.namespace).Resource(resource).Name(name).Body(&o).Do(ctx).Error()
}

// patchPod changes a subresource of a pod.
func (c *cluster) patchPod(ctx context.Context, name, subresource string, patch []byte) error {
	return c.api.core.Patch(types.StrategicMergePatchType).Namespace(c.namespace).Resource("pods").Name(name).SubResource(subresource).Body(patch).Do(ctx).Error()
}

func (c *cluster) logs(ctx context.Context, name string, o corev1.PodLogOptions) ([]byte, error) {
	return c.api.core.Get().Namespace(c.namespace).Resource("pods").Name(name).SubResource("log").VersionedParams(&o, c.api.parameters).Do(ctx).Raw()
}

// may asks whether the user may do something.
func (c *cluster) may(ctx context.Context, review *authv1.SelfSubjectAccessReview) (bool, error) {
	var answer authv1.SelfSubjectAccessReview
	err := c.api.authorization.Post().Resource("selfsubjectaccessreviews").Body(review).Do(ctx).Into(&answer)
	return answer.Status.Allowed, err
}
