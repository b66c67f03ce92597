// Package cluster brings up a real Kubernetes on one machine, for the tests below it
// and for trying things by hand (go run ./test/cluster/run).
//
// # Model
//
// etcd, containerd, runc and the network plugins are Debian's packages. Kubernetes
// itself, kubectl and kube-proxy among it, is built from the Go module proxy and kept
// in the user's cache, by everything that decides the result.
//
// A cluster lives in namespaces of its own, of processes, mounts and the network, as a
// container does. The first process there, start.sh, starts everything else, and starts
// again what ends. When it is killed the kernel ends every process, pods and shims
// too, and with them go mounts, interfaces and rules of the firewall: nothing can be
// forgotten. It dies with the program that started it, by whatever signal. What the
// kernel does not take away, empty cgroups and the folder of the run, goes at Stop, or
// when the next cluster of the number starts.
//
// Several clusters may run side by side, each with a number, which its addresses,
// cgroups and folder are made from. Every node has a containerd and a kubelet of its
// own; all share the network's namespace, and the API server is reached from outside
// over a pair of virtual interfaces.
//
// # Limits
//
//   - Nodes share the machine's CPUs and kernel, so that one node's pods are another's
//     neighbours. Every node believes to have the whole machine.
//   - There is no DNS in the cluster; services are reached by their addresses. No image
//     is fetched: they are made from static programs, and imported.
//   - Whoever may reach the API server's address on this machine and knows the token,
//     is its administrator. It is in a file that only the user may read.
package cluster
