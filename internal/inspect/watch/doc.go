// Package watch is the live view of all Go processes, on a whole terminal.
//
// # Model
//
// Snapshots come in, one at a time and never two at once, and are folded into a
// list of rows. A row is one process, named by PID and start, with its last
// [observe.Process] and a bounded history of what was counted. Which rows are
// shown, in what order and how, follows from the list, the keys pressed and the
// size of the terminal; nothing else is kept. Update never waits: scans and
// explanations run beside it.
//
// What comes from outside (names, versions, messages, explanations) is cleaned
// before it is measured or drawn: nothing in it moves the cursor, changes a
// colour or turns the direction of writing, and no two ways to count columns
// differ over it.
//
// # Limits
//
//   - SIGKILL, and a panic in a goroutine that Scan itself starts, end the process
//     before the screen is restored; the command reset mends the terminal.
//   - The history lives as long as the view.
//   - Throttling is that of a group: all processes in it show the same.
package watch
