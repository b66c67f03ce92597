# The first process of a cluster: sets its namespaces up and keeps everything running.
#   start.sh DIR BIN OUTSIDE INSIDE NODES CGROUP
# OUTSIDE and INSIDE are the addresses of the machine and of the API server.
set -u
dir=$1 bin=$2 outside=$3 inside=$4 nodes=$5 cgroup=$6

mount --make-rprivate /
mount -t proc proc /proc
# Where programs write to places of their own choice, it goes with the cluster.
for place in /run /var/log /var/lib; do mount -t tmpfs tmpfs "$place"; done
mount --make-rshared /

ip link set lo up
until ip link show eth0 >/dev/null 2>&1; do sleep 0.1; done
ip addr add "$inside/30" dev eth0
ip link set eth0 up
ip route add default via "$outside"
echo 1 >/proc/sys/net/ipv4/ip_forward

keep() { # NAME COMMAND…: again when it ends
	local name=$1
	shift
	while :; do
		"$@" >>"$dir/$name.log" 2>&1
		echo "$name has ended with $?" >>"$dir/$name.log"
		sleep 1
	done &
}

cd "$dir" || exit 1
# On a tmpfs: a test's data need not outlive it, and syncing it costs seconds.
keep etcd etcd --data-dir /run/etcd --listen-client-urls http://127.0.0.1:2379 \
	--advertise-client-urls http://127.0.0.1:2379 --listen-peer-urls http://127.0.0.1:2380
keep apiserver "$bin/kube-apiserver" --etcd-servers http://127.0.0.1:2379 --secure-port 6443 \
	--bind-address 0.0.0.0 --advertise-address "$inside" --kubelet-preferred-address-types InternalIP --cert-dir certs --token-auth-file tokens.csv \
	--authorization-mode RBAC --service-cluster-ip-range 10.96.0.0/16 \
	--service-account-issuer https://kubernetes.default.svc \
	--service-account-key-file account.key --service-account-signing-key-file account.key
for n in $(seq "$nodes"); do
	keep "containerd$n" containerd --config "node$n/containerd.toml"
done
until [ -s certs/apiserver.crt ]; do sleep 0.1; done
keep scheduler "$bin/kube-scheduler" --kubeconfig kubeconfig --leader-elect=false --secure-port 0
keep controllers "$bin/kube-controller-manager" --kubeconfig kubeconfig --leader-elect=false --secure-port 0 \
	--service-account-private-key-file account.key --root-ca-file certs/apiserver.crt
keep proxy "$bin/kube-proxy" --kubeconfig kubeconfig --hostname-override node1 --proxy-mode iptables \
	--cluster-cidr 10.244.0.0/16 --conntrack-max-per-core 0
for n in $(seq "$nodes"); do
	keep "kubelet$n" "$bin/kubelet" --config "node$n/kubelet.yaml" --kubeconfig kubeconfig \
		--root-dir "$dir/node$n/kubelet" --cert-dir "$dir/node$n/pki" \
		--hostname-override "node$n" --node-ip "$inside"
done
while :; do wait; sleep 1; done
