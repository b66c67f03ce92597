// Package automemlimit holds the library's reading of memory limits against
// github.com/KimMachineGun/automemlimit v1.0.1: that module's own fixtures and
// tables of cases, read where the module lies when the test runs, and its
// FromCgroup itself in worlds made at random.
//
// It is a module of its own, so that nothing else requires the other module.
package automemlimit
