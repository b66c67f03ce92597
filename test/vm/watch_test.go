package vm

import (
	"testing"

	"github.com/procfit/procfit/test/built"
)

// Set, undo and Watch where they can be seen: with 8 CPUs the runtime's default
// follows the limit. Four programs are in groups of their own below one parent;
// idle uses nothing of the library, old is one whose go line is below 1.25.
func TestWatch(t *testing.T) {
	emulated(t, "amd64")
	output := Run(t, Machine{
		CPUs: 8, Cgroup: "v2", Files: map[string]string{"/follow": built.Go(t, "testdata/follow", alone, "build", ".")},
		Script: `
cd /sys/fs/cgroup
echo +cpu >cgroup.subtree_control
mkdir pod other
echo +cpu >pod/cgroup.subtree_control
echo '500000 100000' >other/cpu.max
start() { # NAME [watch]
	mkdir pod/$1
	echo '200000 100000' >pod/$1/cpu.max
	sh -c 'echo 0 >/sys/fs/cgroup/pod/'$1'/cgroup.procs; exec /follow '$2 >/tmp/$1 2>&1 &
	eval $1=$!
}
# Wait until the last line of the program's output that has the first word is
# the second argument.
await() {
	for i in $(seq 200); do
		[ "$(grep "^${2%% *}" /tmp/$1 | tail -n 1)" = "$2" ] && { echo "$1: $2"; return; }
		sleep 0.1
	done
	echo "$1: not $2"; cat /tmp/*; exit 1
}
resize() { for name in idle watch set old; do echo "$1 100000" >pod/$name/cpu.max; done; }
start idle; start set; start watch watch
export GODEBUG=containermaxprocs=0,updatemaxprocs=0; start old watch; unset GODEBUG
await idle 'start 2'; await set 'start 2'; await watch 'start 2'; await old 'start 8'; await old 'procs 2'
echo "== from 2 to 6"
resize 600000
await idle 'procs 6'; await set 'procs 6'; await watch 'procs 6'; await old 'procs 6'
echo "== an ancestor"
echo '100000 100000' >pod/cpu.max
await watch 'procs 1'; await watch 'changed 6 1 automatic false'; await old 'procs 1'; await idle 'procs 6'
kill -USR1 $set
await set 'procs 1'; await set 'maxprocs: GOMAXPROCS=1: was 6; /sys/fs/cgroup/pod/cpu.max limits it to 1 CPU, its affinity is 8 CPUs; the runtime no longer updates it'
resize 500000
await idle 'procs 5'; await set 'procs 1'
echo '300000 100000' >pod/cpu.max
await watch 'procs 3'; await old 'procs 3'
echo "== undo"
kill -USR2 $set
await set 'undone'; await set 'procs 5'
resize 700000
await set 'procs 7'; await idle 'procs 7'
echo "== back to the runtime"
echo 'max 100000' >pod/cpu.max
await watch 'procs 7'; await watch 'changed 3 7 automatic true'
kill -USR1 $set
await set 'maxprocs: GOMAXPROCS=7: already correct; /sys/fs/cgroup/pod/set/cpu.max limits it to 7 CPUs, its affinity is 8 CPUs'
kill -TERM $watch
await watch 'watch ended: context canceled'
resize 400000
await idle 'procs 4'; await set 'procs 4'; await watch 'procs 4'; await old 'procs 4'
echo "== a move"
echo $old >other/cgroup.procs; echo $idle >other/cgroup.procs
await old 'procs 5'; await idle 'procs 4'
`})
	check(t, output,
		"idle: procs 6", "watch: procs 6", "old: procs 6", // a resize
		"watch: procs 1", "idle: procs 6\nset: procs 1", // an ancestor, which the runtime misses
		"set: procs 5", "set: procs 7", // undone, and it follows again
		"watch: procs 4", // after Watch gave back and ended
		"old: procs 5\nidle: procs 4\n")
}
