package folder

import (
	"os"
	"strconv"
)

// owner is who is to own what is made; the zero value leaves it as it comes.
type owner struct {
	given    bool
	uid, gid int
}

// caller is the user who called sudo, where root runs for one.
func caller() owner {
	uid, err := strconv.Atoi(os.Getenv("SUDO_UID"))
	gid, err2 := strconv.Atoi(os.Getenv("SUDO_GID"))
	if os.Geteuid() != 0 || err != nil || err2 != nil || uid <= 0 || gid < 0 {
		return owner{}
	}
	return owner{true, uid, gid}
}

func (o owner) own(chown func(uid, gid int) error) error {
	if !o.given {
		return nil
	}
	return chown(o.uid, o.gid)
}
