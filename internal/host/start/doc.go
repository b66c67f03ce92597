// Package start starts a program in procfit's place.
//
// Where there is execve(2), procfit becomes the program: its PID, its parent, its
// terminal, its open files and its exit code are the program's own, and signals
// reach it as if procfit had never been there. What was ignored stays ignored, but
// for signals other than SIGHUP and SIGINT, which Go's runtime has taken for itself
// before anybody could ask. Elsewhere the program is a child: signals are passed on
// to it as far as the system has them, and its exit code is handed back.
package start
