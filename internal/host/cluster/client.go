// Package cluster connects procfit to the API server of a Kubernetes cluster. It makes
// the only client that procfit has: a check reads a cluster through it, and a sweep or a
// canary makes pods through it.
//
// A client has the groups of the API that procfit needs. The usual clientset has all of
// them, which makes a program larger by 40 MB and slower to start.
//
// Calls that fail for a reason that may pass are repeated ([Client.Call]), permissions
// are asked for before anything is made ([Client.Missing]), and ports of pods are reached
// through the API server ([Client.PortForward]).
package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/show/phrase"
)

// Access names a cluster, a user and a namespace, as kubectl's flags do. An empty field
// takes the value of the kubeconfig, and without a kubeconfig that of the pod in which
// procfit runs.
type Access struct{ Kubeconfig, Context, Namespace string }

// Use is how a client uses the API server.
type Use struct {
	Agent     string        // the user agent, for the server's logs
	PerSecond int           // calls; twice as many at once. client-go's own limit is 5.
	Protobuf  bool          // protobuf has a third of JSON's size and costs a tenth to read; not every proxy passes it on
	Patience  time.Duration // how long Call repeats a call to a server that does not answer
}

// timeout is the longest time that one call may take.
const timeout = 30 * time.Second

// Group is a group of the API, such as apps/v1, and Request a call of it.
type (
	Group   = rest.Interface
	Request = rest.Request
)

type Client struct {
	Core, Apps, Batch Group

	Parameters runtime.ParameterCodec // encodes the options of a call
	Namespace  string

	config   *rest.Config
	patience time.Duration
	warnings warnings
	reached  atomic.Bool // the API server has answered a call
}

// mostConfig bounds a kubeconfig, in bytes: it contains certificates.
const mostConfig = 16 << 20

// Connect makes a client. It does not talk to the API server yet.
func Connect(a Access, u Use) (*Client, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = a.Kubeconfig
	// The library opens them as they come, and would wait for a pipe.
	for _, file := range rules.GetLoadingPrecedence() {
		if _, err := folder.ReadRegular(file, mostConfig); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("cannot reach a cluster: kubeconfig: %w", err)
		}
	}
	if a.Kubeconfig != "" {
		if _, err := os.Stat(a.Kubeconfig); err != nil {
			return nil, configError(fmt.Sprintf("--kubeconfig %s; name another file", phrase.Plain(err)))
		}
	}
	if config, err := rules.Load(); err == nil {
		if err := choose(config, rules.GetLoadingPrecedence(), a.Context); err != nil {
			return nil, err
		}
	}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: a.Context}
	overrides.Context.Namespace = a.Namespace
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	config, err := loader.ClientConfig()
	if clientcmd.IsEmptyConfig(err) { // the library advises a variable that kubectl does not document
		return nil, noConfig(rules.GetLoadingPrecedence())
	}
	if err != nil {
		return nil, configError(configWords.Replace(phrase.Plain(err)))
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, err
	}
	return New(config, namespace, u)
}

// configWords are those of the library in plain words.
var configWords = strings.NewReplacer("error loading config file", "kubeconfig", "yaml: line", "invalid YAML in line", "did not find expected", "expected", "invalid configuration: ", "", "stat ", "", "unable to read certificate-authority", "cannot read the certificate-authority", "unable to read client-cert", "cannot read the client-certificate", "unable to read client-key", "cannot read the client-key", " due to open ", ": ")

func noConfig(looked []string) error {
	return configError(fmt.Sprintf("no kubeconfig found (looked for %s); name one with --kubeconfig FILE", phrase.And(looked)))
}

func New(config *rest.Config, namespace string, u Use) (*Client, error) {
	klog.SetLogger(klog.Logger{}) // client-go would write to the terminal, amid procfit's own progress
	config = rest.CopyConfig(config)
	c := &Client{Namespace: namespace, config: config, patience: u.Patience}
	config.QPS, config.Burst, config.Timeout = float32(u.PerSecond), 2*u.PerSecond, timeout
	config.ContentType = runtime.ContentTypeJSON
	if u.Protobuf {
		config.ContentType = runtime.ContentTypeProtobuf
		config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	}
	config.UserAgent, config.WarningHandler = cmp.Or(u.Agent, "procfit"), &c.warnings
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	c.Parameters = runtime.NewParameterCodec(scheme)
	for _, group := range []struct {
		to      *Group
		version schema.GroupVersion
		path    string
	}{
		{&c.Core, corev1.SchemeGroupVersion, "/api"}, {&c.Apps, appsv1.SchemeGroupVersion, "/apis"}, {&c.Batch, batchv1.SchemeGroupVersion, "/apis"},
	} {
		of := rest.CopyConfig(config)
		of.GroupVersion, of.APIPath = &group.version, group.path
		of.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
		made, err := rest.RESTClientFor(of)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", group.version, err)
		}
		*group.to = made
	}
	return c, nil
}

// Warnings returns the warnings that the API server has sent, each once.
func (c *Client) Warnings() []string {
	c.warnings.mu.Lock()
	defer c.warnings.mu.Unlock()
	return slices.Clone(c.warnings.list)
}

type warnings struct {
	mu   sync.Mutex
	list []string
}

func (w *warnings) HandleWarningHeader(code int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if code == 299 && text != "" && !slices.Contains(w.list, text) { // RFC 7234: a persistent warning, the only one that API servers send
		w.list = append(w.list, text)
	}
}
