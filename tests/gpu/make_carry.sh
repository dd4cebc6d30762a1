#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds what run_exchange.sh needs on a machine without our tools, into .carry/ at the root of the repository: programs
# with their libraries inside (all but glibc), and bubblewrap with its own. Usage: make_carry.sh [BUILD-FOLDER]
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/carry}
carry=$root/.carry
newest_glibc=2.36
libraries=/usr/lib/$(gcc -print-multiarch)

# Release warns falsely with g++ 12 (-Wrestrict), so warnings are no errors here.
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHEDDLE_GUI=OFF -DHEDDLE_WERROR=OFF \
    -DCMAKE_EXE_LINKER_FLAGS="-static-libstdc++ -static-libgcc" -DOPENSSL_CRYPTO_LIBRARY="$libraries/libcrypto.a" \
    -DHEDDLE_SECCOMP="$libraries/libseccomp.a" \
    ${HEDDLE_CARRY_LAUNCHER:+-DCMAKE_CXX_COMPILER_LAUNCHER=$HEDDLE_CARRY_LAUNCHER} >/dev/null
ninja -C "$build" -j"${HEDDLE_JOBS:-2}" heddle-launch heddle-cuda-probe heddle-gpu-exchange heddle_fake_cuda

rm -rf "$carry"
mkdir -p "$carry/bin" "$carry/lib" "$carry/bubblewrap"
for program in heddle-launch heddle-cuda-probe heddle-gpu-exchange; do
    strip -o "$carry/bin/$program" "$build/bin/$program"
done
strip --strip-unneeded -o "$carry/lib/libheddle_fake_cuda.so" "$build/tests/libheddle_fake_cuda.so"
cp "$(command -v bwrap)" "$carry/bubblewrap/bwrap"
ldd "$carry/bubblewrap/bwrap" | awk '$3 ~ /^\// && $3 !~ /libc\.so/ {print $3}' | xargs -I{} cp -L {} "$carry/bubblewrap/"

for file in "$carry"/bin/* "$carry"/lib/* "$carry"/bubblewrap/*; do
    needs=$(objdump -T "$file" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1 | cut -d_ -f2)
    if [ "$(printf '%s\n' "$needs" "$newest_glibc" | sort -V | tail -n 1)" != "$newest_glibc" ]; then
        echo "make_carry.sh: $file needs glibc $needs, newer than $newest_glibc: build on an older system" >&2
        exit 1
    fi
done
for program in "$carry"/bin/*; do
    if ldd "$program" | grep -Eq 'libstdc|libseccomp|libcrypto'; then
        echo "make_carry.sh: $program still needs a library that the other machine may lack" >&2
        exit 1
    fi
done
du -sh "$carry"
