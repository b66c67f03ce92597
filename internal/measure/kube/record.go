package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/procfit/procfit/internal/host/cluster"
	"github.com/procfit/procfit/internal/show/number"
)

// The record of a run is a ConfigMap that owns all that the run creates: what is left of
// a killed one goes with it. Until when it is to be believed that its procfit lives
// is in it, and is extended before every trial, run of a Job, round and slice.
const (
	recordPrefix = "procfit-"
	aliveUntil   = "procfit.dev/alive-until"
	recordHost   = "host"
	recordObject = "object"
	// allRuns selects what runs have created.
	allRuns = labelManager + "=" + manager + "," + labelRun
)

// Leftover is a run whose record is in the cluster.
type Leftover struct {
	Run, Host, Object string
	Alive             bool // its procfit may be at work
}

func (c *api) begin(ctx context.Context, run string, l Leftover, until time.Time) (*metav1.OwnerReference, error) {
	record := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name: recordPrefix + run, Labels: map[string]string{labelManager: manager, labelRun: run},
			Annotations: map[string]string{aliveUntil: until.UTC().Format(time.RFC3339)},
		},
		Data: map[string]string{recordHost: l.Host, recordObject: l.Object},
	}
	var created corev1.ConfigMap
	if err := c.create(ctx, "configmaps", record, &created); err != nil {
		return nil, fmt.Errorf("cannot write the record of the run, a ConfigMap in namespace %s: %w", c.Namespace, err)
	}
	// As their controller it keeps others from adopting its pods.
	return &metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: created.Name, UID: created.UID, Controller: new(true)}, nil
}

// renew puts off until when a run counts as alive.
func (c *api) renew(ctx context.Context, run string, until time.Time) error {
	var record corev1.ConfigMap
	err := c.get(ctx, c.Core, "configmaps", recordPrefix+run, &record)
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("the record of this run no longer exists in namespace %s: someone removed it and its pods (procfit kube clean does that)", c.Namespace)
	}
	if err != nil {
		return err
	}
	metav1.SetMetaDataAnnotation(&record.ObjectMeta, aliveUntil, until.UTC().Format(time.RFC3339))
	record.ResourceVersion = "" // a call that is repeated may have been carried out: that is no conflict
	return c.send(ctx, c.Core.Put().Namespace(c.Namespace).Resource("configmaps").Name(record.Name).Body(&record), nil)
}

// leftovers are the runs that have a record. A ConfigMap of procfit's without the name of a
// run is none: to remove a run without a name is to remove every run.
func (c *api) leftovers(ctx context.Context, now time.Time) (list []Leftover, err error) {
	var all corev1.ConfigMapList
	if err := c.list(ctx, c.Core, "configmaps", metav1.ListOptions{LabelSelector: allRuns}, &all); err != nil {
		return nil, err
	}
	for _, m := range all.Items {
		if m.Labels[labelRun] == "" {
			continue
		}
		until, err := time.Parse(time.RFC3339, m.Annotations[aliveUntil])
		list = append(list, Leftover{Run: m.Labels[labelRun], Host: m.Data[recordHost], Object: m.Data[recordObject], Alive: err == nil && now.Before(until)})
	}
	return list, nil
}

const (
	endGrace     = int64(1)
	endPatience  = 60 * time.Second
	goneInterval = 250 * time.Millisecond
)

// remove deletes all that a run created, pods first, and waits until they are gone. An
// empty run is every one.
func (c *api) remove(ctx context.Context, run string) (pods int, err error) {
	of := metav1.ListOptions{LabelSelector: allRuns}
	if run != "" {
		of.LabelSelector += "=" + run
	}
	pods, err = c.removePods(ctx, of)
	return pods, errors.Join(err, c.removeRecords(ctx, of))
}

func (c *api) removePods(ctx context.Context, of metav1.ListOptions) (n int, err error) {
	began := time.Now()
	until := began.Add(endPatience)
	err = cluster.Until(ctx, goneInterval, func(ctx context.Context) (bool, error) {
		var left corev1.PodList
		if err := c.list(ctx, c.Core, "pods", of, &left); err != nil {
			return false, err
		}
		n = max(n, len(left.Items))
		if len(left.Items) == 0 {
			return true, nil
		}
		for _, p := range left.Items {
			grace := graceOf(&p)
			until = later(until, p.DeletionTimestamp, grace)
			switch {
			case p.DeletionTimestamp == nil:
			case time.Since(began) > strandedAfter && c.stranded(ctx, &p) != "":
				grace = 0
			default:
				continue
			}
			if err := c.deletePod(ctx, p.Name, grace); err != nil {
				return false, err
			}
		}
		if time.Now().After(until) {
			return false, fmt.Errorf("%d of procfit's pods in namespace %s still exist after %s; check that their node is ready", len(left.Items), c.Namespace, number.Chosen(endPatience))
		}
		return false, nil
	})
	return n, err
}

func (c *api) removeRecords(ctx context.Context, of metav1.ListOptions) error {
	var all corev1.ConfigMapList
	err := c.list(ctx, c.Core, "configmaps", of, &all)
	for _, m := range all.Items {
		if err == nil {
			err = c.delete(ctx, "configmaps", m.Name, metav1.DeleteOptions{})
		}
	}
	return err
}

// graceOf is how long a pod of ours may take to end: one that serves a user's requests
// has the time that its template gives it for those under way.
func graceOf(p *corev1.Pod) int64 {
	if p.Labels[labelRole] == roleCanary && p.Spec.TerminationGracePeriodSeconds != nil {
		return max(endGrace, *p.Spec.TerminationGracePeriodSeconds)
	}
	return endGrace
}

// later puts patience off for a pod that has just been told to end.
func later(until time.Time, told *metav1.Time, grace int64) time.Time {
	if end := time.Now().Add(endPatience + time.Duration(grace)*time.Second); told == nil && end.After(until) {
		return end
	}
	return until
}

func (c *api) deletePod(ctx context.Context, name string, grace int64) error {
	return c.delete(ctx, "pods", name, metav1.DeleteOptions{GracePeriodSeconds: &grace})
}

// Clean removes what all runs left in the namespace, once it is agreed which they are.
func Clean(ctx context.Context, a Access, agree func([]Leftover) error) (runs, pods int, err error) {
	c, err := open(a)
	if err != nil {
		return 0, 0, err
	}
	list, err := c.leftovers(ctx, time.Now())
	if err != nil {
		return 0, 0, err
	}
	if len(list) == 0 {
		if err := c.CheckNamespace(ctx, c.Namespace); err != nil {
			return 0, 0, err
		}
	}
	if err := agree(list); err != nil {
		return 0, 0, err
	}
	pods, err = c.remove(ctx, "")
	return len(list), pods, err
}
