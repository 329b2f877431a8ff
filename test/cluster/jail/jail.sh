#!/bin/bash
# jail.sh DIR COMMAND...: runs COMMAND in a machine of its own: network, mounts, processes, host name, IPC and cgroup.
# Its loopback device carries 10.96.0.1 (the service address of an API server) and 10.97.0.1 (the node's address).
# With BED_IMAGEFS_MB set it is a node: /run, /var/lib and /var/log are DIR's, kernel settings stay untouched, and the
# root of every cgroup hierarchy is the jail's own folder, so that whatever a container asks for lies below that.
# With BED_DISK_MB set too, the node has a disk of its own of this size, for everything below /var.
# With BED_LOOP_DEVICES=ext4 or xfs, its disks are loop devices with that file system; otherwise they are tmpfs.
# When COMMAND ends, or this script in any way, the kernel ends what was started inside. What the kernel does not own
# are the cgroup folders: removed on the way out, or by the next jail if this script was killed by KILL.
# While it runs, `nsenter --target "$(cat DIR/jail.pid)" --all bash` opens a shell inside.
set -euo pipefail
self=$(realpath "${BASH_SOURCE[0]}")
node_ip=10.97.0.1 service_ip=10.96.0.1

hierarchies() { # one in cgroup v2, one for each controller in v1
  if [ -f /sys/fs/cgroup/cgroup.controllers ]; then echo /sys/fs/cgroup; return; fi
  local h; for h in /sys/fs/cgroup/*/; do [ ! -f "$h/cgroup.procs" ] || echo "${h%/}"; done
}

# The lock on a bed's folder in the first hierarchy says that its script lives; pids would say nothing across namespaces.
first=; read -r first < <(hierarchies) || true

remove_cgroup() { # rmdir refuses where a process is left; the first hierarchy goes last, because it holds the lock
  local h try
  for ((try = 0; try < 50; try++)); do
    for h in $(hierarchies | tac); do
      [ ! -d "$h/$1" ] || find "$h/$1" -depth -type d -exec rmdir {} + 2>/dev/null || { sleep 0.1; continue 2; }
    done
    return 0
  done
}

sweep() { # what killed scripts have left
  local bed; for bed in "$first"/dustpan-jail-*; do
    if [ -d "$bed" ] && flock --nonblock "$bed" true 2>/dev/null; then remove_cgroup "${bed##*/}"; fi
  done
}

claim_cgroup() { # best effort: only the kubelet cannot do without
  local bed; until [ -n "${BED_CGROUP:-}" ]; do
    bed=$(mktemp -d "$first/dustpan-jail-XXXXXX" 2>/dev/null) || return 0
    # another jail's sweep may come before the lock
    if { exec 9<"$bed"; } 2>/dev/null && flock 9 && [ -d "$bed" ]; then BED_CGROUP=${bed##*/}; fi
  done
  local h; for h in $(hierarchies); do prepare_cgroup "$h" 2>/dev/null || true; done
}

prepare_cgroup() {
  mkdir -p "$1/$BED_CGROUP"
  if [ -f "$1/cpuset.cpus" ]; then # v1: takes no process before its sets are given
    cat "$1/cpuset.cpus" >"$1/$BED_CGROUP/cpuset.cpus"; cat "$1/cpuset.mems" >"$1/$BED_CGROUP/cpuset.mems"
    echo 1 >"$1/$BED_CGROUP/cgroup.clone_children"
  fi
  if [ -f "$1/cgroup.controllers" ]; then # v2: controllers on the way down, processes in the leaf
    local c; for c in $(cat "$1/cgroup.controllers"); do
      echo "+$c" >"$1/cgroup.subtree_control" || true; echo "+$c" >"$1/$BED_CGROUP/cgroup.subtree_control" || true
    done
  fi
  mkdir -p "$1/$BED_CGROUP/bed"
}

deaf() { # a parent killed thread by thread sends TERM more than once: the second must not end the clean-up
  trap '' TERM INT HUP
}

outside() {
  local rc; dir=$(realpath -m "$1"); shift; mkdir -p "$dir"
  BED_CGROUP=
  if [ -n "$first" ]; then sweep; claim_cgroup; fi
  export BED_CGROUP
  jailed=
  leave() { # unshare ignores TERM; KILL takes its child along
    deaf; set +e; [ -z "$jailed" ] || { kill -KILL "$jailed"; wait "$jailed"; } 2>/dev/null
    rm -f "$dir/jail.pid"; [ -z "$BED_CGROUP" ] || remove_cgroup "$BED_CGROUP"
  }
  trap leave EXIT; trap 'deaf; exit 143' TERM; trap 'deaf; exit 130' INT; trap 'deaf; exit 129' HUP
  setpriv --pdeathsig KILL unshare --net --mount --pid --uts --ipc --fork --kill-child --mount-proc \
    bash "$self" --inside "$dir" "$@" <&0 9<&- & jailed=$!
  for _ in {1..100}; do
    read -r -d ' ' pid <"/proc/$jailed/task/$jailed/children" 2>/dev/null && { echo "$pid" >"$dir/jail.pid"; break; }
    sleep 0.01
  done
  wait "$jailed" && rc=0 || rc=$?
  exit "$rc"
}

become_node() { # $1: DIR
  local file
  echo "$BED_NODE" >/proc/sys/kernel/hostname
  echo 1 >/proc/sys/net/ipv4/ip_forward
  # the kubelet wants exactly these kernel-wide values and would write them: let it read them
  mkdir -p "$1"/node/{containerd,kubelet,log,sysctl}
  while read -r key value; do
    file=$1/node/sysctl/${key//\//.}; echo "$value" >"$file"; mount --bind "$file" "/proc/sys/$key"
  done <<'SETTINGS'
vm/overcommit_memory 1
vm/panic_on_oom 0
kernel/panic 10
kernel/panic_on_oops 1
kernel/keys/root_maxkeys 1000000
kernel/keys/root_maxbytes 25000000
SETTINGS
  mount -t tmpfs tmpfs /run; mkdir -p /run/lock /run/netns /run/containerd
  if [ -n "${BED_DISK_MB:-}" ]; then own_disk; else folders_of_dir "$1"; fi
  [ "$BED_IMAGEFS_MB" = 0 ] || mount_disk imagefs "$BED_IMAGEFS_MB" /var/lib/containerd "${BED_DISK_MB:+,nr_inodes=$((BED_IMAGEFS_MB * 64))}"
  mount --make-rshared / # as on a real node, and no further than this jail
}

# In memory: of this size however full the machine's disk is, and its syncs wait for no disk.
mount_disk() { # $1: name, $2: MB, $3: mount point, $4: further options of a tmpfs
  local file=/run/bed/$1.img
  [ -n "${BED_LOOP_DEVICES:-}" ] || { mount -t tmpfs -o "size=$2m$4" "$1" "$3"; return; }
  truncate --size "$2M" "$file"
  if [ "$BED_LOOP_DEVICES" = xfs ]; then mkfs.xfs -q "$file"; else mkfs.ext4 -q -m 0 -i 16384 "$file"; fi
  mount -o loop "$file" "$3" # with autoclear: the kernel frees the device when it drops the jail's mounts
}

folders_of_dir() { # $1: DIR; the node's paths lie on the machine's own disk
  mkdir -p /run/bed/{upper,work}
  mount -t overlay overlay -o lowerdir=/var/lib,upperdir=/run/bed/upper,workdir=/run/bed/work /var/lib
  mkdir -p /var/lib/{containerd,kubelet,cni}
  # containerd's root must not lie on an overlay
  mount --bind "$1/node/containerd" /var/lib/containerd
  mount --bind "$1/node/kubelet" /var/lib/kubelet; mount --bind "$1/node/log" /var/log
}

# One mount of one file system: the kubelet names a tmpfs after its mount point, and a bind mount of it elsewhere would be
# a second disk. It has as many inodes as mkfs.ext4 makes: one for 16 KiB. The machine's other files below /var stay in reach.
own_disk() {
  local path here
  mkdir -p /run/bed/var; mount --rbind /var /run/bed/var
  mount_disk disk "$BED_DISK_MB" /var ",nr_inodes=$((BED_DISK_MB * 64)),mode=755"
  mkdir -p /var/lib/{containerd,kubelet,cni} /var/log
  for path in /run/bed/var/* /run/bed/var/lib/*; do
    here=/var/${path#/run/bed/var/}; [ -e "$here" ] || ln -s "$path" "$here"
  done
}

controllers() { # of a hierarchy, or its name, in the options it is mounted with; a namespace may not set the others
  tr ',' '\n' | grep -vE '^(xattr|release_agent=.*|clone_children|nsdelegate|memory_.*|pids_.*)$' | paste -sd ,
}

own_cgroups() { # in a new cgroup namespace a hierarchy must be mounted again to show its own root
  local point type options; while read -r _ _ _ _ point _ options; do
    read -r type _ options <<<"${options##*- }"
    umount "$point"; mount -t "$type" -o "$(controllers <<<"$options")" "$type" "$point"
  done < <(grep -E ' - cgroup2? ' /proc/self/mountinfo)
  local root=/sys/fs/cgroup c
  if [ -f "$root/cgroup.controllers" ]; then # v2: a cgroup that shares out controllers has no process
    mkdir "$root/init"; for c in $(cat "$root/cgroup.procs"); do echo "$c" >"$root/init/cgroup.procs" || true; done
    for c in $(cat "$root/cgroup.controllers"); do echo "+$c" >"$root/cgroup.subtree_control" || true; done
  fi
}

inside() {
  local h; export BED_DIR=$1 BED_NODE=node-a BED_NODE_IP=$node_ip BED_SERVICE_IP=$service_ip; shift
  for h in $(hierarchies); do
    [ -z "$BED_CGROUP" ] || [ ! -d "$h/$BED_CGROUP/bed" ] || echo 0 >"$h/$BED_CGROUP/bed/cgroup.procs"
  done
  ip link set lo up; ip address add "$service_ip/32" dev lo; ip address add "$node_ip/32" dev lo
  if [ -z "${BED_IMAGEFS_MB:-}" ]; then run "$@"; fi
  become_node "$BED_DIR"
  exec unshare --cgroup bash "$self" --inside-node "$@"
}

run() {
  local child rc
  "$@" <&0 & child=$! # not exec: pid 1 must reap orphans
  while :; do wait "$child" && rc=0 || rc=$?; kill -0 "$child" 2>/dev/null || exit "$rc"; done
}

case "$1" in
  --inside) shift; inside "$@" ;;
  --inside-node) shift; own_cgroups; run "$@" ;;
  *) outside "$@" ;;
esac
