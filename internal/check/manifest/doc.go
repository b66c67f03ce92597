// Package manifest is the Checker of files that say how a program is to run: objects of
// Kubernetes, compose files, Dockerfiles, systemd units, task definitions of ECS and
// jobs of Nomad in JSON.
//
// # Model
//
// A file gives units: one for each container or service, with its CPU limit, what sets
// its GOMAXPROCS, and what is known of its program. A unit becomes a rule.Subject on
// any machine (or on one of --cpus), which package rule judges. What a unit of
// Kubernetes draws from another object, a ConfigMap or a LimitRange, is resolved when
// all files are read.
//
// Objects are read by shape, not by the types of Kubernetes: whatever has an apiVersion
// and a kind, and below it a list of containers, has pods. That finds custom resources,
// keeps the line and the column of everything, and needs no types of 30 MB.
//
// Whether a container holds a Go program cannot be seen in a manifest. It counts as one
// where GOMAXPROCS or another variable of the Go runtime is set, and where the user
// names a version, by --go or by the annotation procfit/go. Where no version is known,
// only what holds for every version is found, but for what is told as of Go 1.25.
//
// A fix is an edit of the tree and the splices that make it in the bytes: it is offered
// only when the spliced text, parsed again, is the edited tree.
//
// # Limits
//
//   - Values of Secrets and fields of the pod are not known.
//   - Of several ConfigMaps of one name the one in the same file counts, else the one in
//     the same folder, else the only one. A LimitRange counts for the objects of its
//     namespace in the same folder.
//   - Exclusive CPUs, which the static CPU manager gives to a pod of whole CPUs, are not
//     foreseen.
//   - Nomad's HCL is not read; `nomad job inspect` and `nomad job run -output` give JSON.
package manifest
