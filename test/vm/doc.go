// Package vm boots a Linux machine under software emulation and runs a script in
// it as root: for truth about machines that the tests' own is not, with 8 or 64
// CPUs, cgroup v2, v1 or both, nested limits. It shows what a program decides,
// never how fast it is.
//
// A machine is Debian's cloud kernel (kernel.sh fetches it, or
// PROCFIT_VM_KERNEL names one), and a root file system in memory with busybox
// and the files given. It needs no KVM, takes 5 to 15 seconds to boot, has no
// network and no disk, and is gone after the script.
package vm
