// Package pods runs the experiment of document 004 where the document did: in a cluster,
// as many pods behind one load.
//
// Its sweeps are those of every other place, with pods of package kube as their targets.
// Besides them it follows the document's own fix: the manifest as it was before, the same
// after check's fix, and of each what check promises, what kubectl describe shows, and
// what a pod made of it runs with.
//
// The program is procfit's own, whatever Go that is built with: what one of an older Go
// would run with is told by check, and not seen.
package pods
