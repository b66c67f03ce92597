// Package kube measures in a cluster what package local measures on this machine: its
// Runner's targets are pods.
//
// A [Subject] is what the user runs: a Deployment, StatefulSet, DaemonSet, Pod, Job or
// CronJob, or a manifest of one. Its pod template becomes bare pods of ours, which differ from it in
// GOMAXPROCS and, where that is swept, in the CPU limit; in the labels that a Service
// or a controller would select them by, which they lose; and in where they run, which
// is one node. A container that is restarted in silence would spoil a trial, so none
// is. Whatever else the template holds a copy has too, Secrets and databases with it:
// [Terms] tell it before anything is made.
//
// All that is made belongs to one ConfigMap, the record of the run, which takes it along
// when it goes; pods end by themselves where nothing is left to end them.
//
// The load comes from a pod of ours, and the evidence from an ephemeral container beside
// the target, which sees its processes: both run package agent and are asked through the
// API server's port-forward. Where no such container may be, GOMAXPROCS is taken from the
// runtime metrics that the target serves, or is unproven.
//
// A Job's pods get no load. What looks at them is beside the program from before its start,
// sees its processes, and tells at their end what they did.
//
// On several nodes at once each is a lane with a load's pod of its own, and a block of the
// plan runs on one of them. A node that stops being ready makes its trial invalid: what
// its pods did is not known.
//
// What it does not cover: several containers under test at once, and nodes that run
// anything but Linux.
package kube
