package need

import (
	"runtime"
	"syscall"
	"testing"
)

// AsNobody runs do on a thread of another user, which ends with it.
func AsNobody(t testing.TB, do func()) {
	t.Helper()
	Root(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked, so that the thread ends
		const nobody = 65534
		if _, _, e := syscall.RawSyscall(syscall.SYS_SETRESUID, nobody, nobody, nobody); e != 0 {
			t.Errorf("setresuid: %v", e)
			return
		}
		do()
	}()
	<-done
}
