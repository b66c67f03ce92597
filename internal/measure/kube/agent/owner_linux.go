package agent

import (
	"io/fs"
	"syscall"
)

func owner(info fs.FileInfo) (uid, gid *int64) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, nil
	}
	return new(int64(s.Uid)), new(int64(s.Gid))
}
