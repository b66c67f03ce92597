// Package cluster checks what runs in a Kubernetes cluster, by the rules and with the
// words of files.
//
// # Model
//
// Pods are read in pages. Of each only what bears on GOMAXPROCS is kept, in place of its
// controller: pods of one controller that are alike in that are one [workload]. A
// workload is written as the object that a file would hold and given to package
// manifest, which resolves the values; so a value in a cluster and in a file cannot be
// told differently. What a cluster knows and a file does not is put in before: the
// limits in force, the CPUs of the node, and, where the exporter runs, the release of
// the program.
//
// Then what runs is held against what was resolved. A live value comes from the
// exporter, one for every container (see [Live]); without it, a variable that was drawn
// from a limit before the pod was resized is told as what it may be. Where a pod sets
// GOMAXPROCS and the template of its controller does not, something that admits pods
// has put it in.
//
// # Limits
//
//   - Everything is only read. A permission that is missing for what is besides pods
//     leaves that out, and says so.
//   - Values of Secrets are not read, and not asked for. A ConfigMap counts as it is now,
//     and not as it was when a container started.
//   - Several Go programs in one container are one: the oldest, by its process number.
package cluster
