#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# with_rung.sh HOW PROGRAM: runs a test program where another rung of the sandbox ladder must hold.
set -eu
how=$1
program=$2
export GTEST_COLOR=no
# Exit code 77 with its reason, which ctest shows.
skip() {
    echo "skipped: $1"
    exit 77
}
as_root() { [ "$(id -u)" = 0 ] || skip "only root can become another user"; }
nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
case $how in
landlock)
    export HEDDLE_SANDBOX=landlock HEDDLE_EXPECTED_RUNG=landlock
    exec "$program"
    ;;
user)
    as_root
    $nobody test -x "$program" || skip "another user cannot reach $program, as under a home of mode 0700"
    unset XDG_RUNTIME_DIR || true
    export HOME=/nonexistent TMPDIR=/tmp
    exec $nobody "$program"
    ;;
user-without-namespaces)
    as_root
    $nobody test -x "$program" || skip "another user cannot reach $program, as under a home of mode 0700"
    export HOME=/nonexistent TMPDIR=/tmp HEDDLE_EXPECTED_RUNG=landlock
    $nobody unshare --user --map-current-user true || skip "other users make no namespaces here"
    # A namespace in which no further one can be made, entered without any capability.
    exec $nobody unshare --user --map-current-user --keep-caps sh -c '
        echo 0 > /proc/sys/user/max_user_namespaces || exit 77
        exec setpriv --inh-caps=-all --ambient-caps=-all "$1"' sh "$program"
    ;;
chroot)
    as_root
    unshare --mount true || skip "no mount namespace can be made here, as within a chroot"
    root=$(mktemp -d /tmp/heddle-chroot-XXXXXX)
    chmod 755 "$root"
    export HEDDLE_EXPECTED_RUNG=landlock
    code=0
    # All mounts are in a mount namespace of their own and end with it; the root is a plain folder, as debootstrap makes.
    unshare --mount sh -c '
        set -eu
        root=$1 program=$2
        for folder in usr proc dev etc root; do
            mkdir -p "$root/$folder"
            mount --rbind "/$folder" "$root/$folder"
        done
        for link in bin sbin lib lib32 lib64 libx32; do
            [ ! -L "/$link" ] || ln -s "$(readlink "/$link")" "$root/$link"
        done
        mkdir -p -m 1777 "$root/tmp"
        mkdir -p "$root/home" "$root/sys" "$root/build/bin" "$root/build/tests"
        folder=$(dirname "$(dirname "$program")")
        mount --bind "$folder/bin" "$root/build/bin"
        mount --bind "$folder/tests" "$root/build/tests"
        exec chroot "$root" "/build/tests/$(basename "$program")"' sh "$root" "$program" || code=$?
    rm -rf --one-file-system "$root"
    exit $code
    ;;
esac
exit 2
